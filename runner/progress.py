"""ncu's own progress, read from its standard output while it runs.

The submission prints on the same stream and can forge these lines: they only move a number on the
screen, up and never past the limit, and never decide what became of a benchmark.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from runner.text import one_line

# The name may hold quotes of its own; what follows it tells where it ends. Newer lines count
# (`- 0 (1/10):`), a capture by kernel name does not.
_PROFILING = re.compile(r'==PROF== Profiling "(.*)"(?: - \d+)?(?: \((\d+)/(\d+)\))?:')
MAX_LINE = 8_192


@dataclass(frozen=True, slots=True)
class Progress:
    """Launch `kernel` of at most `limit`, from 1; `name` as ncu printed it."""

    kernel: int
    limit: int
    name: str


class ProgressReader:
    """Takes bytes as they come; calls `report` once for each launch that begins, monotone."""

    def __init__(self, limit: int, report: Callable[[Progress], None]) -> None:
        self._limit = limit
        self._report = report
        self._line = b""
        self._seen = False
        self._kernel = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; a line is understood before its end has come."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            self._line, self._seen = b"", False
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        if self._seen or len(self._line) >= MAX_LINE:
            return
        self._line += part[:MAX_LINE]
        found = _PROFILING.search(self._line.decode(errors="replace"))
        if found is not None:
            self._seen = True
            self._advance(found)

    def _advance(self, found: re.Match[str]) -> None:
        counted = int(found[2][:9]) if found[2] else self._kernel + 1
        kernel = min(counted, self._limit)
        if kernel > self._kernel:
            self._kernel = kernel
            self._report(Progress(kernel, self._limit, one_line(found[1])))


def last_kernel(stdout: str) -> str:
    """Return the name in the last `Profiling` line of a stream, or an empty text."""
    names = _PROFILING.findall(stdout)
    return one_line(names[-1][0]) if names else ""
