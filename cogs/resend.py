"""Sends a finished reply once more, to whoever asks for it now: private, and not recorded."""

import asyncio
from dataclasses import replace

from bot.answers import DiscordInteraction
from bot.delivery.courier import BENCHMARKS_A_MESSAGE
from bot.delivery.sending import lighter_and_lighter
from bot.delivery.ways import Part, TooLarge, Unclear, WayClosed
from bot.jobs.errors import NotSent
from bot.jobs.model import JobOutcome
from bot.reports.illustrate import illustrated, illustrations
from bot.reports.message import ReplyMessage
from bot.reports.pictures.worker import PictureWorker
from cogs.address import address_of
from cogs.ways import ReplyWay


class Resender:
    """Sends in answer to one interaction, which was deferred privately.

    `configured` is the operator's own upload limit in bytes. Each method raises NotSent.
    """

    def __init__(self, interaction: DiscordInteraction, configured: int | None) -> None:
        self._way = ReplyWay(interaction.client, address_of(interaction, configured))
        self.limit = self._way.limit

    async def send(
        self, job_id: str, messages: tuple[ReplyMessage, ...], *, picker: bool = True
    ) -> None:
        """Send messages; without `picker` nobody can choose kernels under them."""
        try:
            for number, message in enumerate(messages, 1):
                message_id = await self._way.open(Part(job_id, number))
                shown = message if picker else replace(message, picker=None)
                await self._fill(message_id, shown)
        except (WayClosed, Unclear) as error:
            raise NotSent(error.reason) from error

    async def illustrate(self, outcome: JobOutcome, pictures: PictureWorker) -> None:
        """Send the pictures of a reply."""
        drawn = await illustrated(pictures, outcome)
        shown = await asyncio.to_thread(illustrations, outcome, drawn, self.limit)
        try:
            for start in range(0, len(shown), BENCHMARKS_A_MESSAGE):
                await self._way.add(shown[start : start + BENCHMARKS_A_MESSAGE])
        except (WayClosed, Unclear) as error:
            raise NotSent(error.reason) from error
        except TooLarge:
            raise NotSent("the pictures are too large") from None

    async def _fill(self, message_id: int, message: ReplyMessage) -> None:
        for lighter in lighter_and_lighter(message, self.limit):
            try:
                await self._way.fill(message_id, lighter)
            except TooLarge:
                continue
            return
        raise WayClosed("even the text alone is too large")
