"""One sync at a time, among all processes that share a data folder."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.leaderboards.errors import SyncBusy


@asynccontextmanager
async def alone(file: Path) -> AsyncIterator[None]:
    """Hold the lock of `file`; it goes with the process. Raises SyncBusy without waiting."""
    opened = await asyncio.to_thread(_locked, file)
    try:
        yield
    finally:
        os.close(opened)


def _locked(file: Path) -> int:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise SyncBusy from None
    return opened
