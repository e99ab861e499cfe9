"""The warm process that draws: started when first needed, again after it broke, ended with us.

A process because drawing in a thread holds the event loop. Not one of `multiprocessing`, which
runs the main module of whatever program the cogs were loaded into once more.
"""

import asyncio
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import msgspec

from bot.reports.pictures.values import PictureRequest, Pictures

log = logging.getLogger(__name__)
# -P keeps the working folder off the path: no file there can stand in for a module.
PROGRAM = (sys.executable, "-P", "-c", "from bot.reports.pictures.program import main; main()")
START_S = 60.0
DRAW_S = 20.0
END_S = 2.0
_KEPT = ("PATH", "PYTHONPATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class CannotDrawError(Exception):
    """The drawing process died or took too long."""


class PictureWorker:
    """One process, one request at a time. `folder` is for matplotlib's cache of fonts."""

    def __init__(self, folder: Path, draw_s: float = DRAW_S) -> None:
        self._folder = folder
        self._draw_s = draw_s
        self._turn = asyncio.Lock()
        self._process: Process | None = None

    async def draw(self, request: PictureRequest) -> Pictures:
        """Draw a benchmark's pictures. Raises CannotDrawError; the next call starts afresh."""
        async with self._turn:
            try:
                process = await self._running()
                return await self._asked(process, request)
            except (OSError, EOFError, TimeoutError, msgspec.MsgspecError) as error:
                await self._end()
                raise CannotDrawError(type(error).__name__) from error
            except asyncio.CancelledError:
                # Its answer would be taken for the next request's.
                await self._end()
                raise

    async def start(self) -> int:
        """Make the process ready and return its id. Raises CannotDrawError."""
        async with self._turn:
            try:
                return (await self._running()).pid
            except (OSError, EOFError, TimeoutError) as error:
                await self._end()
                raise CannotDrawError(type(error).__name__) from error

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *PROGRAM, stdin=PIPE, stdout=PIPE, env=self._environment()
            )
            await _line(self._process, START_S)
        return self._process

    async def _asked(self, process: Process, request: PictureRequest) -> Pictures:
        assert process.stdin is not None  # noqa: S101 - it was asked for
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        await process.stdin.drain()
        return msgspec.json.decode(await _line(process, self._draw_s), type=Pictures)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_S)
        except TimeoutError:
            log.warning("the drawing process was killed")
            process.kill()
            await process.wait()

    def _environment(self) -> dict[str, str]:
        """Return the little that it needs, and none of the bot's secrets."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        fonts = str((self._folder / "matplotlib").absolute())
        # More threads than one would only take memory.
        return kept | {"MPLCONFIGDIR": fonts, "OPENBLAS_NUM_THREADS": "1"}


async def _line(process: Process, limit_s: float) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    line = await asyncio.wait_for(process.stdout.readline(), limit_s)
    if not line.endswith(b"\n"):
        raise EOFError
    return line
