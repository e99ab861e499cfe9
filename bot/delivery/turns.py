"""How many messages with files are sent at one time, which bounds open files and memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SLOW_S = 10.0


class Turns:
    """Lets `most` calls go at one time.

    A call that takes longer than `slow_s` waits for Discord rather than for this machine: it goes
    on, and holds nobody else up any more.
    """

    def __init__(self, most: int, slow_s: float = SLOW_S) -> None:
        self._free = asyncio.Semaphore(most)
        self._slow_s = slow_s

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it as long as the context lasts."""
        await self._free.acquire()
        turn = _Turn(self._free)
        slow = asyncio.get_running_loop().call_later(self._slow_s, turn.end)
        try:
            yield
        finally:
            slow.cancel()
            turn.end()


class _Turn:
    """One call's turn, which is given back once."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free: asyncio.Semaphore | None = free

    def end(self) -> None:
        free, self._free = self._free, None
        if free is not None:
            free.release()
