"""The numbered events of one live job: on disk first, then to everybody who waits."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from msgspec.structs import replace

from runner.jobs.store import Store
from runner_client.wire import JobEvent

MOST = 500
"""Events in one answer."""
NOW = datetime.fromtimestamp(0, UTC)
"""Stands in events that are not yet emitted."""


class EventLog:
    """Events from 1, in order. `emit` may be called from several tasks."""

    def __init__(self, store: Store, job_id: str, events: list[JobEvent]) -> None:
        self._store = store
        self._job_id = job_id
        self._events = events
        self._order = asyncio.Lock()
        self._changed = asyncio.Event()
        self._closed = False

    async def emit(self, event: JobEvent) -> None:
        """Number and date `event`, keep it, and wake who waits."""
        async with self._order:
            kept = replace(event, number=len(self._events) + 1, at=datetime.now(UTC))
            await asyncio.to_thread(self._store.append, self._job_id, kept)
            self._events.append(kept)
            self._wake()

    async def after(self, number: int, wait_s: float) -> tuple[JobEvent, ...]:
        """Return events after `number`, waiting up to `wait_s` seconds for the first of them."""
        if len(self._events) <= number and not self._closed and wait_s > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait_s)
        return newer(self._events, number)

    @property
    def last(self) -> JobEvent | None:
        """Return the newest event."""
        return self._events[-1] if self._events else None

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def newer(events: list[JobEvent], number: int) -> tuple[JobEvent, ...]:
    """Return at most MOST events after `number`; event n stands at place n - 1."""
    return tuple(events[number : number + MOST])
