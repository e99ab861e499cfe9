"""A pipe whose reading end is drained by the event loop."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

CHUNK = 65_536
LAST_BYTES = 4 * 1_048_576
"""How much is still taken out of a pipe after its program ended; a grandchild may go on writing."""


class Pipe:
    """Context manager: drained from enter to exit, on exit emptied without waiting, then closed."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._read_end, self.write_end = os.pipe()
        self._given_away = False
        os.set_blocking(self._read_end, False)

    def __enter__(self) -> Self:
        """Start to drain."""
        asyncio.get_running_loop().add_reader(self._read_end, self._ready)
        return self

    def given_away(self) -> None:
        """Close this side's copy of the writing end, once a child has its own."""
        os.close(self.write_end)
        self._given_away = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take what is there and close."""
        asyncio.get_running_loop().remove_reader(self._read_end)
        if not self._given_away:
            self.given_away()
        taken = 0
        while taken < LAST_BYTES and (chunk := self._take()):
            taken += len(chunk)
        os.close(self._read_end)

    def _ready(self) -> None:
        if not self._take():
            asyncio.get_running_loop().remove_reader(self._read_end)

    def _take(self) -> bytes:
        chunk = b""
        with suppress(BlockingIOError):
            chunk = os.read(self._read_end, CHUNK)
        if chunk:
            self._sink(chunk)
        return chunk
