"""Waiting for what no event tells."""

import asyncio
from collections.abc import Callable

LOOK_S = 0.005
LONGEST_S = 30.0


async def until(true: Callable[[], bool]) -> None:
    """Return once `true` is; fail when it never becomes so."""
    for _ in range(int(LONGEST_S / LOOK_S)):
        if true():
            return
        await asyncio.sleep(LOOK_S)
    raise AssertionError("it did not happen")
