"""Sends the messages of one reply on one way: each opened once, filled once, recorded."""

import asyncio
import logging
from collections.abc import Iterator, Sequence

from bot.delivery.steps import Step, reached
from bot.delivery.turns import Turns
from bot.delivery.ways import Part, TooLarge, Unclear, Unopened, Way, WayClosed
from bot.jobs.model import Job
from bot.reports.message import ReplyMessage
from bot.reports.uploads import largest
from bot.storage.deliveries import Deliveries, StoredPart

log = logging.getLogger(__name__)
REFUSED = "Discord refused the upload as too large"
OVER = "over Discord's limit where this could be sent"
WAITS_S = (1.0, 5.0, 15.0)
"""Pauses between tries of a call that Discord left unanswered; discord.py tries five times each."""


class Sender:
    """Sends one job's messages. What was filled on any way before is not sent again.

    With `resumed`, an earlier life of the program may have opened a message without recording it.
    """

    def __init__(
        self,
        deliveries: Deliveries,
        job: Job,
        parts: Sequence[StoredPart],
        *,
        resumed: bool,
        at_once: Turns,
        waits_s: tuple[float, ...] = WAITS_S,
    ) -> None:
        self._deliveries = deliveries
        self._job = job
        self._parts = {part.number: part for part in parts}
        self._resumed = resumed
        self._at_once = at_once
        self._waits_s = waits_s

    async def send(self, way: Way, messages: Sequence[ReplyMessage], first: int = 1) -> None:
        """Send all messages, in order, as parts that are counted from `first`.

        Raises WayClosed where another way must be taken, Unopened where another one may be, and
        Unclear where it is not known what became of a message: another way would perhaps say it
        twice.
        """
        for number, message in enumerate(messages, first):
            known = self._parts.get(number)
            if known is None or not known.filled:
                part = Part(self._job.id, number, alone=number == 0 and not self._has_sent())
                await self._fill(way, part, await self._opened(way, part), message)

    def _has_sent(self) -> bool:
        return any(part.filled for part in self._parts.values())

    async def _opened(self, way: Way, part: Part) -> int:
        known = self._parts.get(part.number)
        if known is not None and known.way is way.name:
            return known.message_id
        reached(Step.BEFORE_OPEN, part.job_id)
        message_id = await self._open(way, part)
        reached(Step.AFTER_OPEN, part.job_id)
        await self._deliveries.opened(part.job_id, part.number, way.name, message_id)
        self._parts[part.number] = StoredPart(part.number, way.name, message_id, filled=False)
        return message_id

    async def _open(self, way: Way, part: Part) -> int:
        """Open a message; where one may be there already, look for it first."""
        look = self._resumed
        for wait_s in self._waits_s:
            try:
                found = await way.find(part) if look else None
                return await way.open(part) if found is None else found
            except Unclear as unclear:
                log.warning("a message may have been opened: %s", unclear.reason)
            look = True
            await asyncio.sleep(wait_s)
        self._resumed = True
        try:
            found = await way.find(part)
        except Unclear as unclear:
            raise Unopened(unclear.reason) from unclear
        if found is None:
            raise Unopened("no message can be opened")
        return found

    async def _fill(self, way: Way, part: Part, message_id: int, message: ReplyMessage) -> None:
        reached(Step.BEFORE_FILL, part.job_id)
        await self._fitting(way, message_id, message)
        reached(Step.AFTER_FILL, part.job_id)
        await self._deliveries.filled(part.job_id, part.number)
        known = self._parts[part.number]
        self._parts[part.number] = StoredPart(known.number, known.way, message_id, filled=True)

    async def _fitting(self, way: Way, message_id: int, message: ReplyMessage) -> None:
        for lighter in lighter_and_lighter(message, way.limit):
            try:
                await self._patiently(way, message_id, lighter)
            except TooLarge:
                log.warning(
                    "upload refused as too large: %s", [file.name for file in lighter.files]
                )
            else:
                return
        raise WayClosed("even the text alone is too large")

    async def _patiently(self, way: Way, message_id: int, message: ReplyMessage) -> None:
        for wait_s in self._waits_s:
            try:
                async with self._at_once.turn():
                    await way.fill(message_id, message)
            except Unclear as unclear:
                log.warning("a message may have been filled: %s", unclear.reason)
            else:
                return
            await asyncio.sleep(wait_s)
        if not await way.holds(message_id, message):
            raise WayClosed("no message can be filled")


def lighter_and_lighter(message: ReplyMessage, limit: int) -> Iterator[ReplyMessage]:
    """Yield a message with all files that fit, then without the largest, then the text alone."""
    for file in message.files:
        if file.size > limit:
            message = message.without(file, OVER)
    yield message
    heaviest = largest(message.files)
    if heaviest is None:
        return
    message = message.without(heaviest, REFUSED)
    yield message
    if not message.files:
        return
    for file in message.files:
        message = message.without(file, REFUSED)
    yield message
