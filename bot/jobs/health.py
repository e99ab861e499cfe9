"""Looks at every runner again and again: takes out the dead, moves their jobs, tells admins."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta

from bot.jobs.errors import NcubotError
from bot.jobs.faults import runner_faults
from bot.jobs.handover import Handover
from bot.jobs.runners import Runners, RunnerState
from bot.storage.database import TROUBLE, Database
from bot.storage.runners import RunnerRecords
from bot.wording import sentence
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.errors import ClientError, Unknown

log = logging.getLogger(__name__)
ANSWER_S = 5.0
"""A runner that takes longer to say how it is counts as one that does not answer."""
ON_ITS_WAY = timedelta(seconds=30)
"""In this time a hand-over that was cut short has reached its runner, or never does."""
Announce = Callable[[str], Awaitable[bool]]
"""Tells admins something; False where they could not be told now."""


async def to_log(text: str) -> bool:
    """Tell admins by the log."""
    log.warning("%s", text)
    return True


class RunnerWatch:
    """The looks at all runners of a bot. `announce` goes to the log until somebody sets it."""

    def __init__(
        self, addresses: Iterable[RunnerAddress], database: Database, runners: Runners
    ) -> None:
        self.records = RunnerRecords(database)
        self.announce: Announce = to_log
        self._runners = runners
        self._handover = Handover(database, runners)
        self._lookers = {
            address.name: RunnerClient(address, attempts=1, answer_s=ANSWER_S)
            for address in addresses
        }

    async def watch(self, every_s: float) -> None:
        """Look at the runners again and again until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            await self.look()

    async def look(self) -> None:
        """Look at every runner once and do what follows from it."""
        answered = await asyncio.gather(*(self._look_at(name) for name in self._lookers))
        try:
            self._runners.set_drained(await self.records.drained())
            await self._clear_what_is_out()
            for name, is_there in zip(self._lookers, answered, strict=True):
                if is_there:
                    await self._recall(name)
            await self._tell()
        except TROUBLE as error:
            log.warning("runners could not be looked after: %s", error)

    async def drain(self, runner: str, by: int | None) -> bool:
        """Give a runner no new job, also after a restart; what it has goes on.

        Returns False where it was so already. Raises RunnerUnknown.
        """
        self._runners.state(runner)
        changed = await self.records.drain(runner, by)
        self._runners.set_drained(await self.records.drained())
        return changed

    async def resume(self, runner: str) -> bool:
        """Give a runner jobs again; False where it got some anyway. Raises RunnerUnknown."""
        self._runners.state(runner)
        changed = await self.records.resume(runner)
        self._runners.set_drained(await self.records.drained())
        return changed

    async def close(self) -> None:
        """Close the connections."""
        for looker in self._lookers.values():
            await looker.close()

    async def _look_at(self, runner: str) -> bool:
        try:
            with runner_faults(runner, ""):
                health = await self._lookers[runner].health()
        except NcubotError as error:
            self._runners.did_not_answer(runner, error)
            return False
        self._runners.answered(runner, health)
        return True

    async def _clear_what_is_out(self) -> None:
        for state in self._runners.states():
            if state.is_out:
                await self._handover.clear(state.name)

    async def _recall(self, runner: str) -> None:
        """Let a runner that is there drop the jobs that nobody wants of it any more.

        One that it does not know may still be on its way to it.
        """
        arrived = datetime.now(UTC) - ON_ITS_WAY
        for recall in await self.records.to_recall(runner):
            try:
                await self._lookers[runner].cancel(recall.job_id)
            except Unknown:
                if recall.at > arrived:
                    continue
            except ClientError as error:
                log.warning(
                    "job %s could not be taken from runner %s: %r", recall.job_id, runner, error
                )
                continue
            await self.records.recalled(runner, recall.job_id)

    async def _tell(self) -> None:
        """Tell admins of each GPU that has no runner left, once until it has one again."""
        key = self._runners.names.key
        served = {key(gpu) for gpu in self._runners.gpus()}
        known = await self.records.outages()
        every = {key(gpu): gpu for gpu in self._runners.all_gpus()}
        for gpu, name in every.items():
            if gpu not in served and gpu not in known and await self.announce(self._outage(name)):
                await self.records.told_of(gpu)
        for gpu in known - (every.keys() - served):
            if gpu not in every or await self.announce(f"{every[gpu]} has a runner again."):
                await self.records.over(gpu)

    def _outage(self, gpu: str) -> str:
        """Say why no runner of a GPU takes jobs: `H200 has no runner left: h200-a is drained.`"""
        key = self._runners.names.key
        whys = [_why(state) for state in self._runners.states() if key(state.gpu) == key(gpu)]
        return (
            f"{gpu} has no runner left, so no job for it is taken; jobs that wait for it go on "
            f"when one is back. {' '.join(whys)}"
        )


def _why(state: RunnerState) -> str:
    failure = state.last_failure
    if state.drained or failure is None:
        return f"{state.name} is drained."
    if isinstance(failure.why, NcubotError):
        return sentence(failure.why)
    return f"{state.name} cannot profile: {failure.why}."
