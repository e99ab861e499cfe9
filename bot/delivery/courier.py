"""Takes one job from wherever its row says that it stands to its author."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.delivery.address import WayName
from bot.delivery.progress import EDIT_EVERY_S, LATER, Progress, first_words, progress_words
from bot.delivery.sending import WAITS_S, Sender
from bot.delivery.steps import Step, reached
from bot.delivery.turns import Turns
from bot.delivery.ways import TooLarge, Unclear, Unopened, Way, WayClosed, Ways
from bot.jobs.errors import RunnerFault
from bot.jobs.model import UNDER_WAY, Job, JobOutcome, JobPhase
from bot.jobs.service import JobService
from bot.reports.illustrate import illustrated, illustrations
from bot.reports.message import ReplyMessage
from bot.reports.nothing import nothing_came
from bot.reports.parts import MOST_FILES
from bot.reports.pictures.values import Kind
from bot.reports.pictures.worker import PictureWorker
from bot.reports.reply import compose
from bot.storage.deliveries import Deliveries, Delivery
from bot.wording import sentence
from runner_client.wire import JobEvent

log = logging.getLogger(__name__)
BENCHMARKS_A_MESSAGE = MOST_FILES // len(Kind)
LAST_EDIT_S = 20.0
"""So long before the interaction ends its author is told that something else comes."""
PAUSE_S = 30.0
"""Between two rounds while Discord gives no answer."""
Messages = tuple[ReplyMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What every courier of a bot works with; `at_once` bounds the files that are being sent."""

    jobs: JobService
    deliveries: Deliveries
    ways: Ways
    pictures: PictureWorker
    at_once: Turns
    waits_s: tuple[float, ...] = WAITS_S
    pause_s: float = PAUSE_S


class Courier:
    """One job's courier. A life of the program that ends leaves the rest to the next one's.

    `resumed` is whether there may have been an earlier one. With `greeted` the first words stand
    in the reply already. `edit_every_s` is the least time between two edits of the progress.
    """

    def __init__(
        self,
        tools: Tools,
        delivery: Delivery,
        *,
        resumed: bool,
        greeted: bool = False,
        edit_every_s: float = EDIT_EVERY_S,
    ) -> None:
        self._tools = tools
        self._job = delivery.job
        self._address = delivery.address
        self._words = delivery.words
        self._tried = delivery.way
        self._first = 1
        self._greeted = greeted
        self._edit_every_s = edit_every_s
        self._sender = Sender(
            tools.deliveries,
            delivery.job,
            delivery.parts,
            resumed=resumed,
            at_once=tools.at_once,
            waits_s=tools.waits_s,
        )
        self.delivering = False
        """Whether the result is at hand and being sent."""
        self.cancelling = False
        """Whether the author has asked for the job's end."""

    async def run(self) -> bool:
        """Follow the job and deliver what came of it; tell whether it reached its author."""
        outcome = await self._outcome()
        self.delivering = True
        messages = await self._messages(outcome)
        way = await self._deliver(messages)
        self.delivering = False
        if way is not None and outcome is not None:
            await self._illustrate(way, outcome)
        return way is not None

    async def _outcome(self) -> JobOutcome | None:
        job = self._job
        if job.phase is JobPhase.FAILED:
            return None
        if job.phase not in UNDER_WAY:
            return await self._tools.jobs.outcome(job)
        try:
            return await self._followed(job)
        except RunnerFault as fault:
            self._words = sentence(fault)
            return None

    async def _followed(self, job: Job) -> JobOutcome:
        accepted = first_words(job)
        progress = Progress(
            self._show,
            self._address.expires_at,
            every_s=self._edit_every_s,
            shown=accepted if self._greeted else "",
        )
        progress.show(accepted)
        last = asyncio.get_running_loop().call_later(
            self._life_s() - LAST_EDIT_S, progress.show_last, LATER
        )

        async def on_event(event: JobEvent) -> None:
            words = progress_words(event, job)
            if words is not None:
                progress.show(f"{accepted}\n{words}")

        try:
            return await self._tools.jobs.run(job, on_event)
        finally:
            last.cancel()
            await progress.close()

    def _life_s(self) -> float:
        return (self._address.expires_at - datetime.now(UTC)).total_seconds()

    async def _show(self, text: str) -> None:
        await self._tools.ways.show(self._job, self._address, text, cancelling=self.cancelling)

    async def _messages(self, outcome: JobOutcome | None) -> Messages:
        if outcome is None:
            self._first = 0
            return (nothing_came(self._job, self._words),)
        return await asyncio.to_thread(compose, outcome, self._address.upload_limit)

    async def _deliver(self, messages: Messages) -> Way | None:
        """Send the messages on the first way that is open; None where none is."""
        job_id = self._job.id
        await self._tools.deliveries.begin(job_id)
        way = await self._sent(messages)
        if way is None:
            log.warning("no way to the author is open, the result is kept")
            await self._tools.deliveries.take(job_id, WayName.KEPT)
            return None
        reached(Step.BEFORE_DELIVERED, job_id)
        await self._tools.deliveries.over(job_id)
        reached(Step.AFTER_DELIVERED, job_id)
        return way

    async def _sent(self, messages: Messages) -> Way | None:
        while True:
            try:
                return await self._round(messages)
            except Unclear as unclear:
                log.warning("Discord gives no answer: %s", unclear.reason)
            await asyncio.sleep(self._tools.pause_s)

    async def _round(self, messages: Messages) -> Way | None:
        busy: WayName | None = None
        for way in self._left():
            await self._take(way.name)
            try:
                await self._sender.send(way, messages, self._first)
            except WayClosed as closed:
                log.warning("the way %s is closed: %s", way.name, closed.reason)
            except Unopened as unopened:
                log.warning("the way %s is not open now: %s", way.name, unopened.reason)
                busy = busy or way.name
            else:
                return way
        if busy is not None:
            await self._take(busy)
            raise Unclear("no way is open now")
        return None

    async def _take(self, name: WayName) -> None:
        await self._tools.deliveries.take(self._job.id, name)
        self._tried = name

    def _left(self) -> tuple[Way, ...]:
        """Return the ways that may be open, without those that were given up."""
        order = list(WayName)
        first = 0 if self._tried is None else order.index(self._tried)
        every = self._tools.ways.to(self._job, self._address)
        return tuple(way for way in every if order.index(way.name) >= first)

    async def _illustrate(self, way: Way, outcome: JobOutcome) -> None:
        """Send pictures at most once: the reply is there without them."""
        drawn = await illustrated(self._tools.pictures, outcome)
        shown = await asyncio.to_thread(illustrations, outcome, drawn, way.limit)
        for start in range(0, len(shown), BENCHMARKS_A_MESSAGE):
            try:
                async with self._tools.at_once.turn():
                    await way.add(shown[start : start + BENCHMARKS_A_MESSAGE])
            except (WayClosed, Unclear, TooLarge) as error:
                log.warning("pictures could not be sent: %s", getattr(error, "reason", "too large"))
