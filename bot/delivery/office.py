"""The couriers of one bot: at most one a job, started with it and at each start of the bot."""

import asyncio
import logging
import secrets
from contextlib import suppress

from bot.delivery.address import Address
from bot.delivery.courier import Courier, Tools
from bot.delivery.progress import EDIT_EVERY_S, first_words
from bot.delivery.ways import Unclear, WayClosed
from bot.jobs.errors import BotBroken
from bot.jobs.model import Job
from bot.storage.database import TROUBLE
from bot.storage.deliveries import Delivery
from bot.wording import sentence
from runner_client.logs import about_job

log = logging.getLogger(__name__)
EDITS_A_SECOND = 20
"""Progress edits of all jobs together; with more jobs each is edited less often."""
TROUBLE_WAIT_S = 5.0
LET_GO_S = 5.0


class Office:
    """Starts couriers, and lets those that are delivering end before the program does."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._couriers: dict[str, Courier] = {}
        self._with_kept: set[int] = set()
        self._closing = False

    def give_way(self) -> None:
        """Send nothing more: another bot does."""
        self._closing = True
        for task in self._tasks.values():
            task.cancel()

    async def accept(self, job: Job, address: Address) -> None:
        """Tell the author of a new job that it is accepted, and take it from there."""
        words = first_words(job)
        greeted = False
        try:
            await self._tools.ways.show(job, address, words, cancelling=False)
            greeted = True
        except (WayClosed, Unclear) as error:
            log.warning("progress could not be shown: %s", error.reason)
        finally:
            self._start(job.id, resumed=False, greeted=greeted)

    async def resume(self) -> None:
        """Take up every job whose author was not reached yet, as soon as the database answers."""
        while not self._closing:
            try:
                await self._take_up()
            except TROUBLE as error:
                log.warning("unfinished jobs are not read yet: %s", type(error).__name__)
                await asyncio.sleep(TROUBLE_WAIT_S)
            else:
                return

    async def _take_up(self) -> None:
        deliveries = self._tools.deliveries
        await deliveries.forget_tokens()
        self._with_kept.update(await deliveries.with_kept())
        unfinished = [job for job in await deliveries.unfinished() if job not in self._tasks]
        if unfinished:
            log.info("taking up %d unfinished jobs", len(unfinished))
        for job_id in unfinished:
            self._start(job_id, resumed=True)

    async def belongs(self, job_id: str, user_id: int) -> bool:
        """Whether a job is that user's."""
        return await self._tools.jobs.belongs(job_id, user_id)

    async def cancel(self, job_id: str, user_id: int) -> None:
        """Ask for the end of a user's job. Raises NotYours, RunnerFault."""
        ended = await self._tools.jobs.cancel(job_id, user_id)
        if job_id in self._couriers:
            self._couriers[job_id].cancelling = True
        if ended:
            await self.restart(job_id)

    async def restart(self, job_id: str) -> None:
        """Let a job's courier read its row anew, which somebody else has changed."""
        task = self._tasks.pop(job_id, None)
        if task is not None:
            await _ended(task)
        self._start(job_id, resumed=True)

    async def let_go(self, job_id: str) -> None:
        """Give a courier a moment to tell its author of the end; one that needs longer is ended."""
        task = self._tasks.get(job_id)
        if task is not None:
            await asyncio.wait({task}, timeout=LET_GO_S)
            await _ended(task)

    async def kept_for(self, user_id: int) -> tuple[Delivery, ...]:
        """Return what could not be sent to a user who is here now, each once in this process."""
        if user_id not in self._with_kept:
            return ()
        self._with_kept.discard(user_id)
        return await self._tools.deliveries.kept(user_id)

    async def told(self, kept: Delivery) -> None:
        """Note that the author knows of a result that is kept."""
        await self._tools.deliveries.over(kept.job.id)

    def not_told(self, kept: Delivery) -> None:
        """Note that the author could not be told either, and is to be the next time."""
        self._with_kept.add(kept.address.user_id)

    async def close(self, patience_s: float) -> None:
        """End: deliveries get `patience_s` seconds, the rest is for the next start."""
        self._closing = True
        tasks = dict(self._tasks)
        for job_id, task in tasks.items():
            courier = self._couriers.get(job_id)
            if courier is None or not courier.delivering:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks.values(), timeout=patience_s)
        for task in tasks.values():
            await _ended(task)

    def _start(self, job_id: str, *, resumed: bool, greeted: bool = False) -> None:
        if self._closing or job_id in self._tasks:
            return
        task = asyncio.create_task(self._serve(job_id, resumed, greeted))
        self._tasks[job_id] = task
        task.add_done_callback(lambda done: self._gone(job_id, done))

    def _gone(self, job_id: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(job_id) is task:
            del self._tasks[job_id]
            self._couriers.pop(job_id, None)

    async def _serve(self, job_id: str, resumed: bool, greeted: bool) -> None:
        """Go on until the job is over, through a database that is away and one fault of our own."""
        told = False
        with about_job(job_id):
            while True:
                try:
                    await self._once(job_id, resumed, greeted)
                except TROUBLE as error:
                    log.warning("trouble on the way, trying again: %s", type(error).__name__)
                    await asyncio.sleep(TROUBLE_WAIT_S)
                except Exception:  # the edge: whatever it is, the author is told
                    number = secrets.token_hex(4)
                    log.exception("error %s in a courier", number)
                    if told:
                        return
                    told = await self._give_up(job_id, number)
                else:
                    return
                resumed, greeted = True, False

    async def _once(self, job_id: str, resumed: bool, greeted: bool) -> None:
        delivery = await self._tools.deliveries.load(job_id)
        if delivery is None:
            return
        pace_s = max(EDIT_EVERY_S, len(self._tasks) / EDITS_A_SECOND)
        courier = Courier(
            self._tools, delivery, resumed=resumed, greeted=greeted, edit_every_s=pace_s
        )
        self._couriers[job_id] = courier
        if not await courier.run():
            self._with_kept.add(delivery.address.user_id)

    async def _give_up(self, job_id: str, number: str) -> bool:
        with suppress(*TROUBLE):
            await self._tools.jobs.failed(job_id, "bot-broken", sentence(BotBroken(number)))
            return True
        return False


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
