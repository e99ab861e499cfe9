"""Control groups, version 2 or 1: memory and processes bounded by the kernel, and a sure kill.

Groups are made below the runner's own group, else at the top of the hierarchy. Everything blocks,
but shortly.
"""

import hashlib
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.isolation.proctree import descendants

MOUNT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids")
NAME, LEAF = "ncubot-", "runner"
REMOVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Parent:
    """Where groups can be made: one folder in version 2, one for each controller in version 1."""

    version: int
    memory: Path
    pids: Path

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders, each once."""
        return (self.memory,) if self.version == 2 else (self.memory, self.pids)


@dataclass(frozen=True, slots=True)
class Group:
    """One program's control group."""

    parent: Parent
    name: str

    @property
    def memory(self) -> Path:
        """Return its folder with the memory controller."""
        return self.parent.memory / self.name

    @property
    def pids(self) -> Path:
        """Return its folder with the controller of processes."""
        return self.parent.pids / self.name

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return its folders, each once."""
        return tuple(folder / self.name for folder in self.parent.folders)

    def add(self, pid: int) -> None:
        """Put a process in; its later children are in it from birth."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def oom_kills(self) -> int:
        """Return how many processes were killed for memory."""
        events = "memory.events" if self.parent.version == 2 else "memory.oom_control"
        return _count(self.memory / events, "oom_kill")

    def forks_denied(self) -> int:
        """Return how many new processes or threads were refused."""
        return _count(self.pids / "pids.events", "max")

    def kill(self) -> None:
        """Kill every process in it."""
        for folder in self.folders:
            _kill(folder)

    def remove(self) -> bool:
        """Kill what is left and remove it; False where something does not die in time."""
        deadline = time.monotonic() + REMOVE_S
        while any(folder.exists() and not _removed(folder) for folder in self.folders):
            if time.monotonic() > deadline:
                return False
            self.kill()
            time.sleep(0.01)
        return True


def create(parent: Parent, name: str, memory_bytes: int, processes: int) -> Group:
    """Make a group with its limits. Raises OSError."""
    group = Group(parent, NAME + name)
    for folder in group.folders:
        folder.mkdir(exist_ok=True)
    (group.pids / "pids.max").write_text(str(processes), encoding="ascii")
    for file in _memory_files(parent.version):
        path = group.memory / file
        if path.exists():
            value = 0 if "swap.max" in file else memory_bytes
            path.write_text(str(value), encoding="ascii")
    _set(group.memory / "memory.oom.group", "1")
    return group


def _memory_files(version: int) -> tuple[str, ...]:
    if version == 2:
        return ("memory.max", "memory.swap.max")
    return ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")


def find(mount: Path = MOUNT, own: Path = Path("/proc/self/cgroup")) -> Parent | None:
    """Return where this process can make groups, after trying it; None where it cannot."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((parent for parent in _candidates(mount, lines) if _works(parent)), None)


def sweep(parent: Parent, mark: str) -> None:
    """Kill and remove the groups with a mark that an earlier process left."""
    for folder in parent.folders:
        for left in folder.glob(f"{NAME}{mark}-*"):
            Group(parent, left.name).remove()


def mark_of(data: Path) -> str:
    """Return the mark of one data folder's groups: two runners must not sweep each other's."""
    return hashlib.sha256(os.fsencode(data)).hexdigest()[:12]


def _candidates(mount: Path, lines: list[str]) -> Iterator[Parent]:
    own = {
        controller: path.lstrip("/")
        for _, names, path in (line.split(":", 2) for line in lines if line.count(":") >= 2)
        for controller in names.split(",")
    }
    if (mount / "cgroup.controllers").exists():
        here = mount / own.get("", "")
        for folder in (here.parent if here.name == LEAF else here, mount):
            yield Parent(2, folder, folder)
    elif all((mount / controller).is_dir() for controller in CONTROLLERS):
        nested = [mount / name / own.get(name, "") for name in CONTROLLERS]
        yield Parent(1, nested[0], nested[1])
        yield Parent(1, mount / CONTROLLERS[0], mount / CONTROLLERS[1])


def _works(parent: Parent) -> bool:
    if not all(folder.is_dir() for folder in parent.folders):
        return False
    try:
        if parent.version == 2:
            _delegate(parent.memory)
        group = create(parent, f"try-{os.getpid()}", 1 << 30, 16)
    except OSError:
        return False
    return group.remove()


def _delegate(folder: Path) -> None:
    """Let children of `folder` have the controllers.

    A group with processes cannot, so where all in it are ours we move one level down.
    """
    wanted = {f"+{name}" for name in CONTROLLERS}
    control = folder / "cgroup.subtree_control"
    if not set(CONTROLLERS) - set(control.read_text(encoding="ascii").split()):
        return
    procs = {int(pid) for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
    if procs <= {os.getpid(), *descendants(os.getpid())}:
        leaf = folder / LEAF
        leaf.mkdir(exist_ok=True)
        for pid in procs:
            (leaf / "cgroup.procs").write_text(str(pid), encoding="ascii")
    control.write_text(" ".join(sorted(wanted)), encoding="ascii")


def _set(path: Path, value: str) -> None:
    if path.exists():
        path.write_text(value, encoding="ascii")


def _count(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name} (\d+)$", path.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _kill(folder: Path) -> None:
    with suppress(OSError):
        if (folder / "cgroup.kill").exists():
            (folder / "cgroup.kill").write_text("1", encoding="ascii")
            return
        for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
