"""Keeps the self test apart from jobs: two captures at once would fight for the counters."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Any number of jobs inside, or one that is alone; whoever wants to be alone goes first."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._jobs = 0
        self._alone = 0

    @property
    def idle(self) -> bool:
        """Return whether nobody is inside."""
        return not self._jobs and not self._alone

    @asynccontextmanager
    async def job(self) -> AsyncIterator[None]:
        """Wait until nobody is alone or wants to be, then be inside."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._alone)
            self._jobs += 1
        try:
            yield
        finally:
            await self._leave_job()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Let no further job in, wait until those inside have left, then be alone."""
        async with self._changed:
            self._alone += 1
            try:
                await self._changed.wait_for(lambda: not self._jobs)
            except asyncio.CancelledError:
                self._alone -= 1
                self._changed.notify_all()
                raise
        try:
            yield
        finally:
            await self._leave_alone()

    async def _leave_job(self) -> None:
        async with self._changed:
            self._jobs -= 1
            self._changed.notify_all()

    async def _leave_alone(self) -> None:
        async with self._changed:
            self._alone -= 1
            self._changed.notify_all()
