"""A program's processes, seen through /proc. Everything blocks, but shortly."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# What a process has for itself: pages of libraries are shared by all.
_OWN = re.compile(r"^(?:RssAnon|RssShmem):\s+(\d+) kB|^Threads:\s+(\d+)", re.MULTILINE)

_SHARE = re.compile(r"^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Usage:
    """What processes take together: threads, and bytes of memory."""

    threads: int
    memory: int


def descendants(root: int) -> list[int]:
    """Return the processes below `root`; in its PID namespace an init has all of them."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for pid, parent, _ in _parents():
        children[parent].append(pid)
    found = list(children[root])
    for pid in found:
        found += children[pid]
    return found


def first_child(init: int) -> int | None:
    """Return the oldest child of a namespace's init: the program itself, or None once it ended.

    Orphans become the init's children too, but only later.
    """
    born = sorted((start, pid) for pid, parent, start in _parents() if parent == init)
    return born[0][1] if born else None


def usage(pids: list[int]) -> Usage:
    """Sum up what processes take; those that have gone take nothing.

    A page that processes share counts for each of them.
    """
    threads = memory = 0
    for pid in pids:
        with suppress(OSError):
            text = (PROC / str(pid) / "status").read_text(errors="replace")
            for kilobytes, count in _OWN.findall(text):
                memory += int(kilobytes or 0) * 1_024
                threads += int(count or 0)
    return Usage(threads, memory)


def proportional_memory(pids: list[int]) -> int:
    """Return the bytes that processes take together, each shared page once. Slower."""
    total = 0
    for pid in pids:
        try:
            text = (PROC / str(pid) / "smaps_rollup").read_text(errors="replace")
        except OSError:
            total += usage([pid]).memory
        else:
            total += sum(int(kilobytes) * 1_024 for kilobytes in _SHARE.findall(text))
    return total


def _parents() -> Iterator[tuple[int, int, int]]:
    """Yield pid, parent and start time of every process."""
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The program's name stands in brackets and may hold anything.
                stat = (folder / "stat").read_text(errors="replace")
                fields = stat.rpartition(")")[2].split()
                if fields[0] not in {"Z", "X"}:
                    yield int(folder.name), int(fields[1]), int(fields[19])
