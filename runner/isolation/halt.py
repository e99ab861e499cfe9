"""Why a running program is ended before its own end, and how anybody asks for it."""

import asyncio
from enum import StrEnum

from runner.text import size_words


class Stop(StrEnum):
    """Why the runner ended a program; each is a FailureKind too."""

    TIME_LIMIT = "time-limit"
    JOB_TIME_LIMIT = "job-time-limit"
    REPORT_LIMIT = "report-limit"
    DISK_LIMIT = "disk-limit"
    DISK_FULL = "disk-full"
    MEMORY_LIMIT = "memory-limit"
    PROCESS_LIMIT = "process-limit"
    OUTPUT_LIMIT = "output-limit"
    CANCELLED = "cancelled"


class Halt:
    """One program's way to be ended by a watcher: the first reason counts.

    `figure` is the limit as the user reads it (`2.0 GB`). A watcher of any kind holds the same
    Halt as `process.run`, which then sends SIGTERM, waits and kills.
    """

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.reason: Stop | None = None
        self.figure = ""

    def ask(self, reason: Stop, figure: str = "") -> None:
        """End the program for `reason`; a later call changes nothing."""
        if self.reason is None:
            self.reason, self.figure = reason, figure
            self._asked.set()

    def figure_of(self, stopped: Stop | None) -> str:
        """Return the figure where the program was ended for this reason, else an empty text."""
        return self.figure if self.reason is not None and stopped is self.reason else ""

    async def wait(self) -> None:
        """Return once somebody asked."""
        await self._asked.wait()


class Meter:
    """Counts the bytes that a program prints and ends it past `limit`; None is no limit."""

    def __init__(self, limit: int | None, halt: Halt) -> None:
        self._limit = limit
        self._seen = 0
        self._halt = halt

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of any of its streams."""
        self._seen += len(chunk)
        if self._limit is not None and self._seen > self._limit:
            self._halt.ask(Stop.OUTPUT_LIMIT, size_words(self._limit))
