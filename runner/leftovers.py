"""Processes seen through /proc: what is left of a group, and of a runner that was killed."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_DEAD = frozenset({"Z", "X"})


def alive_in_group(group: int) -> bool:
    """Return whether a process of the group still runs; zombies do not. Blocking, but short."""
    return any(found == group and state not in _DEAD for _, state, found in _processes())


def end_leftovers(work: Path) -> None:
    """Kill every process whose HOME lies under `work`: its runner died before it. Blocking."""
    mark = f"HOME={work}{os.sep}".encode()
    for pid, state, _ in _processes():
        if state in _DEAD or pid == os.getpid():
            continue
        with suppress(OSError):
            variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
            if any(variable.startswith(mark) for variable in variables):
                os.kill(pid, signal.SIGKILL)


def _processes() -> Iterator[tuple[int, str, int]]:
    """Yield pid, state letter and process group of every process."""
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The program's name stands in brackets and may hold anything.
                _, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
                state, _, group = rest.split()[:3]
                yield int(folder.name), state, int(group)
