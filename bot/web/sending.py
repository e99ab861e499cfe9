"""Bytes on their way to a reader who may have stopped reading."""

import asyncio

from aiohttp import web

STALLED_S = 120.0
"""A reader that takes nothing for so long is let go; its job goes on."""


async def write(request: web.Request, response: web.StreamResponse, data: bytes) -> None:
    """Send a piece. Raises ConnectionError where the reader has gone, or takes nothing."""
    try:
        async with asyncio.timeout(STALLED_S):
            await response.write(data)
    except TimeoutError:
        # What waits to be sent would hold an orderly end up for ever.
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionAbortedError("the reader stopped reading") from None
