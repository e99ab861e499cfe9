"""How late a bot's event loop is, and how much memory the bot takes, measured inside it."""

import asyncio
import resource
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

EVERY_S = 0.005


class Lag(Struct, frozen=True, kw_only=True):
    """Seconds by which a timer of `EVERY_S` came too late, and the peak of memory in bytes."""

    p50_s: float
    p99_s: float
    max_s: float
    samples: int
    memory_bytes: int


@asynccontextmanager
async def measured(path: Path) -> AsyncIterator[None]:
    """Measure as long as the context lasts, and write the figures to `path`."""
    late = array("d")
    task = asyncio.create_task(_measure(late))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.to_thread(path.write_bytes, msgspec.json.encode(_lag(late)))


async def _measure(late: "array[float]") -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + EVERY_S
        await asyncio.sleep(EVERY_S)
        late.append(max(loop.time() - due, 0.0))


def _lag(late: "array[float]") -> Lag:
    ordered = sorted(late) or [0.0]
    return Lag(
        p50_s=ordered[len(ordered) // 2],
        p99_s=ordered[int(len(ordered) * 0.99)],
        max_s=ordered[-1],
        samples=len(late),
        # Linux counts in units of 1,024 bytes.
        memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024,
    )


def read(path: Path) -> Lag:
    """Return what was measured."""
    return msgspec.json.decode(path.read_bytes(), type=Lag)
