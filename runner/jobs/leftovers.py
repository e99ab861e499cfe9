"""Processes seen through /proc: what is left of a group, and of a runner that was killed."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_DEAD = frozenset({"Z", "X"})
END_S = 10.0
"""How long leftovers may take to vanish; one stuck in the driver can take longer."""
LOOK_S = 0.01


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    group: int
    terminal: int

    @property
    def folder(self) -> Path:
        return _PROC / str(self.pid)

    @property
    def namespace(self) -> str:
        with suppress(OSError):
            return str((self.folder / "ns/pid").readlink())
        return ""


def alive_in_group(group: int) -> bool:
    """Return whether a process of the group still runs; zombies do not. Blocking, but short."""
    return any(process.group == group for process in _running())


def end_leftovers(work: Path) -> bool:
    """Kill every process of a job below `work`: its runner died before it. Blocking.

    A job's process is one whose environment, working folder or command line names a folder below
    `work`; all that shares its PID namespace goes with it. False where some outlived the signal.
    """
    until = time.monotonic() + END_S
    while found := _of_jobs(work):
        if time.monotonic() > until:
            return False
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(LOOK_S)
    return True


def _of_jobs(work: Path) -> list[_Process]:
    below = os.fsencode(work) + os.sep.encode()
    others = [process for process in _running() if process.pid != os.getpid()]
    marked = [process for process in others if _is_marked(process, below)]
    ours = str((_PROC / "self/ns/pid").readlink())
    inside = {process.namespace for process in marked} - {ours, ""}
    if not inside:
        return marked
    return [one for one in others if one in marked or one.namespace in inside]


def _is_marked(process: _Process, below: bytes) -> bool:
    if any(entry.startswith(b"HOME=" + below) for entry in _entries(process, "environ")):
        return True
    # An operator's shell may stand in such a folder; a job's program never has a terminal.
    if process.terminal:
        return False
    return _cwd(process).startswith(below) or any(
        below in entry for entry in _entries(process, "cmdline")
    )


def _cwd(process: _Process) -> bytes:
    with suppress(OSError):
        return os.fsencode((process.folder / "cwd").readlink()) + os.sep.encode()
    return b""


def _entries(process: _Process, name: str) -> list[bytes]:
    with suppress(OSError):
        return (process.folder / name).read_bytes().split(b"\0")
    return []


def _running() -> Iterator[_Process]:
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The program's name stands in brackets and may hold anything.
                _, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
                state, _, group, _, terminal = rest.split()[:5]
                if state not in _DEAD:
                    yield _Process(int(folder.name), int(group), int(terminal))
