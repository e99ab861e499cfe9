"""One attempt at a piece of work on a node: read to its last message, stopped, or lost."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from runner.capture.progress import Progress
from runner.cluster.errors import Broken, Lost, Withdrawn
from runner.cluster.link import Work
from runner.cluster.messages import REPORT, Begun, Left, Piece, Seen, decode_message
from runner.isolation.halt import Stop

logger = logging.getLogger(__name__)
Show = Callable[[Progress], None]


class Stopped(Exception):  # noqa: N818 - named for what happened
    """The work was ended before it had anything to give."""

    def __init__(self, reason: Stop) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Until when an attempt is waited for, and what of it is kept.

    `deadline` is of the monotonic clock; a node ends its work by itself then, and gets `slack_s`
    more to export and send what it has. Sizes in bytes, of one file.
    """

    cancel: asyncio.Event
    deadline: float
    slack_s: float
    largest_report: int
    largest_file: int


class Attempt:
    """Files come into `folder`, which is this attempt's own: of one that is lost nothing counts."""

    def __init__(self, work: Work, folder: Path, show: Show) -> None:
        self._work, self._folder, self._show = work, folder, show
        self.node = ""

    async def run(self, terms: Terms) -> Left:
        """Return the last message. Raises Stopped, Lost, Broken."""
        await asyncio.to_thread(self._folder.mkdir, parents=True)
        reading = asyncio.create_task(self._read(terms))
        try:
            reason = await self._until(reading, terms)
            return await reading
        except Withdrawn:
            raise Stopped(reason or Stop.CANCELLED) from None
        except Lost:
            if reason is None:
                raise
            raise Stopped(reason) from None
        finally:
            if not reading.done():
                self._work.withdraw()
                reading.cancel()

    async def _until(self, reading: "asyncio.Task[Left]", terms: Terms) -> Stop | None:
        """Wait for the end; return why it was brought about, if it was."""
        if await _ended(reading, terms.cancel, terms.deadline):
            return None
        reason = Stop.CANCELLED if terms.cancel.is_set() else Stop.JOB_TIME_LIMIT
        if not self.node:
            self._work.withdraw()
        elif reason is Stop.CANCELLED:
            self._work.stop()
        if not await _ended(reading, asyncio.Event(), time.monotonic() + terms.slack_s):
            logger.error("%s does not end a benchmark: its process is killed", self.node)
            self._work.kill()
            await asyncio.wait({reading})
        return reason

    async def _read(self, terms: Terms) -> Left:
        left: Left | None = None
        async for data in self._work.messages():
            match _decoded(data):
                case Begun(node, gpu):
                    self.node = node
                    logger.info("it runs on %s, GPU %s", node, gpu)
                case Seen(progress):
                    self._show(progress)
                case Piece() as piece:
                    await asyncio.to_thread(self._keep, piece, terms)
                case Left() as last:
                    left = last
        if left is None:
            raise Lost("its messages ended early")
        return left

    def _keep(self, piece: Piece, terms: Terms) -> None:
        most = terms.largest_report if piece.file == REPORT else terms.largest_file
        with (self._folder / piece.file).open("ab") as file:
            if file.tell() + len(piece.data) > most:
                raise Broken(f"more than {most} bytes of {piece.file}")
            file.write(piece.data)


def _decoded(data: bytes) -> Begun | Seen | Piece | Left:
    try:
        return decode_message(data)
    except msgspec.DecodeError as error:
        raise Broken(f"a node sent what nobody understands: {error}") from error


async def _ended(reading: "asyncio.Task[Left]", cancel: asyncio.Event, deadline: float) -> bool:
    cancelled = asyncio.create_task(cancel.wait())
    try:
        timeout = max(0.0, deadline - time.monotonic())
        await asyncio.wait(
            {reading, cancelled}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        cancelled.cancel()
        with suppress(asyncio.CancelledError):
            await cancelled
    return reading.done()
