"""ncu's own progress, read from its standard output while it runs, and told at a bearable rate.

The submission prints on the same stream and can forge these lines: they only move a number on the
screen, up and never past the limit, and never decide what became of a benchmark.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from runner.text import one_line
from runner_client.captures import CensusFound

EVERY_S = 0.5
"""Least time between two progress events of a job."""
MAX_LINE = 8_192
_CONNECTED = b"==PROF== Connected to process"
_MARK = '==PROF== Profiling "'
# The name may hold quotes of its own; what follows it tells where it ends. Newer lines count
# (`- 0 (1/10):`), a capture by kernel name does not. Matched at one place of a line only: a search
# through a line full of marks would take quadratic time.
_PROFILING = re.compile(_MARK + r'(.*)"(?: - \d+)?(?: \((\d+)/(\d+)\))?:')
_PERCENT = re.compile(r"(\d{1,3})%(\.{0,9})")
_PASSES = re.compile(r"100% - (\d{1,4}) pass")


@dataclass(frozen=True, slots=True)
class Progress:
    """Launch `kernel` of at most `limit`, from 1; `name` as ncu printed it.

    `percent` of its passes are done; `passes` is their number once ncu said it. `counting` while
    a census is made, without ncu; `census` is what one found before.
    """

    kernel: int
    limit: int
    name: str
    connected: bool = True
    percent: int = 0
    passes: int = 0
    counting: bool = False
    census: CensusFound | None = None


class ProgressReader:
    """Takes bytes as they come; calls `report` on each step ahead, never on one back."""

    def __init__(
        self,
        limit: int,
        report: Callable[[Progress], None],
        census: CensusFound | None = None,
    ) -> None:
        self._report = report
        self._line = b""
        self._tail: str | None = None
        self.seen = Progress(0, limit, "", connected=False, census=census)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; a line is understood before its end has come."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            self._line, self._tail = b"", None
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        if self._tail is not None:
            self._passes(self._tail + part[:MAX_LINE].decode(errors="replace"))
        elif part and len(self._line) < MAX_LINE:
            self._line += part[:MAX_LINE]
            self._read_line()

    def _read_line(self) -> None:
        if not self.seen.connected and _CONNECTED in self._line:
            self._tell(replace(self.seen, connected=True))
        found = profiling(self._line.decode(errors="replace"))
        if found is not None:
            self._begin(found)

    def _begin(self, found: re.Match[str]) -> None:
        counted = int(found[2][:9]) if found[2] else self.seen.kernel + 1
        kernel = min(counted, self.seen.limit)
        if kernel > self.seen.kernel:
            seen = self.seen
            self._tell(Progress(kernel, seen.limit, one_line(found[1]), census=seen.census))
            self._passes(found.string[found.end() :])

    def _passes(self, text: str) -> None:
        """Read `0%....50%..`: each dot is a tenth."""
        self._tail = text[-100:]
        for number, dots in _PERCENT.findall(text):
            percent = min(int(number) + 10 * len(dots), 100)
            if percent > self.seen.percent:
                self._tell(replace(self.seen, percent=percent))
        done = _PASSES.search(text)
        if done is not None and self.seen.passes == 0:
            self._tell(replace(self.seen, passes=int(done[1])))

    def _tell(self, progress: Progress) -> None:
        self.seen = progress
        self._report(progress)


def profiling(line: str) -> "re.Match[str] | None":
    """Match ncu's `Profiling` line, which may begin in the middle of the program's own."""
    return _PROFILING.match(line, max(line.rfind(_MARK), 0))


def last_kernel(stdout: str) -> str:
    """Return the name in the last `Profiling` line of a stream, or an empty text."""
    for line in reversed(stdout.splitlines()):
        found = profiling(line)
        if found is not None:
            return one_line(found[1], 200)
    return ""


class Publisher:
    """Hands on the newest progress, at most once in `every_s` seconds; the last one always."""

    def __init__(
        self, emit: Callable[[Progress], Awaitable[None]], every_s: float = EVERY_S
    ) -> None:
        self._emit = emit
        self._every_s = every_s
        self._newest: Progress | None = None
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()
        self._task = asyncio.create_task(self._publish())

    def show(self, progress: Progress) -> None:
        """Ask for `progress` to be told as soon as the next event is due."""
        self._newest = progress
        self._changed.set()

    async def close(self) -> None:
        """Tell what is still untold, and end. Raises what `emit` raised."""
        self._closed.set()
        self._changed.set()
        await self._task

    async def _publish(self) -> None:
        while not self._closed.is_set():
            await self._changed.wait()
            await self._tell()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), self._every_s)
        await self._tell()

    async def _tell(self) -> None:
        newest, self._newest = self._newest, None
        self._changed.clear()
        if newest is not None:
            await self._emit(newest)
