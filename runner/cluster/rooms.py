"""A folder for each worker process of a node, and the end of what a killed one left."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.isolation import cgroup
from runner.isolation.trees import remove_tree
from runner.jobs.leftovers import end_leftovers

LOCK = "lock"


def claim(parent: Path) -> Path:
    """Return a fresh folder that is this process's to its end. Blocking. Raises OSError.

    Ray kills a worker process whose runner is gone; the next one ends its programs, should any
    have outlived it, and removes its files.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with _alone(parent):
        clear(parent)
        room = Path(tempfile.mkdtemp(prefix="worker-", dir=parent))
        # Held as long as the process lives, whatever ends it.
        _lock(room, fcntl.LOCK_EX)
    return room


def clear(parent: Path) -> None:
    """Remove the folders whose processes are dead. Blocking. Raises OSError."""
    groups = None
    for room in parent.glob("worker-*"):
        held = _lock(room, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if held is None:
            continue
        end_leftovers(room)
        groups = groups or cgroup.find()
        if groups is not None:
            cgroup.sweep(groups, cgroup.mark_of(room))
        remove_tree(room)
        os.close(held)


@contextmanager
def _alone(parent: Path) -> Iterator[None]:
    held = _lock(parent, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _lock(folder: Path, how: int) -> int | None:
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
