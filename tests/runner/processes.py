"""A job's processes as this machine sees them, in a sandbox or not."""

import os
from pathlib import Path


def of_jobs(work: Path) -> list[int]:
    """Return the processes of jobs below `work`, with all of their PID namespaces."""
    everybody = [path for path in Path("/proc").iterdir() if path.name.isdecimal()]
    mark = os.fsencode(work) + b"/"
    marked = [path for path in everybody if _is_alive(path) and _has(path, mark)]
    inside = {_namespace(path) for path in marked} - {_namespace(Path("/proc/self")), ""}
    mates = [path for path in everybody if _namespace(path) in inside and _is_alive(path)]
    return sorted({int(path.name) for path in (*marked, *mates)})


def _has(folder: Path, mark: bytes) -> bool:
    try:
        told = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
    except OSError:
        return False
    return mark in told


def _namespace(folder: Path) -> str:
    try:
        return str((folder / "ns/pid").readlink())
    except OSError:
        return ""


def _is_alive(folder: Path) -> bool:
    try:
        stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
