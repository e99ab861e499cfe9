"""Users for those who command them: how one stands, leaving, bans and quotas of single users."""

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta

from bot.accounts.model import Ban, Departure, Standing
from bot.accounts.quota import Limits
from bot.jobs.errors import RunnerFault
from bot.jobs.service import JobService
from bot.storage import accounts, leaving, quotas
from bot.storage.audit import Audit, Entry, Who
from bot.storage.bans import Bans
from bot.storage.database import TROUBLE, Database
from bot.storage.files import ArtifactFiles

log = logging.getLogger(__name__)
LEAST_TRACE = timedelta(days=1)
"""A job's row outlives its author's leaving so long, for those who are still at work on it."""
FORGET_EVERY_S = 3_600.0
ENTRIES = 5
LetGo = Callable[[str], Awaitable[None]]


class Members:
    """All users of the bot."""

    def __init__(
        self,
        database: Database,
        bans: Bans,
        jobs: JobService,
        files: ArtifactFiles,
        limits: Limits,
    ) -> None:
        self._database = database
        self._bans = bans
        self._jobs = jobs
        self._files = files
        self._audit = Audit(database)
        self._one_by_one = asyncio.Lock()
        self._trace = max(limits.longest, LEAST_TRACE)
        self.limits = limits

    async def standing(self, user_id: int) -> Standing:
        """Return what a user has used and may use."""
        now = datetime.now(UTC)
        async with self._database.begin() as session:
            overrides = await quotas.overrides(session, user_id)
            return Standing(
                account=await accounts.find(session, user_id),
                jobs=await quotas.stored(session, user_id),
                under_way=await quotas.count_under_way(session, user_id),
                most_under_way=self.limits.most_under_way(overrides),
                uses=await quotas.uses(
                    session, user_id, self.limits, self.limits.quotas, overrides, now
                ),
            )

    async def leave(self, user_id: int, let_go: LetGo) -> Departure | None:
        """End a user's account, cancel what is under way and delete what was sent and got.

        `let_go` ends whoever is at work on a job here. What only counts is deleted later. Returns
        None where there was no account.
        """
        async with self._one_by_one:
            async with self._database.begin() as session:
                if not await leaving.close_account(session, user_id, datetime.now(UTC)):
                    return None
                unfinished = await leaving.unfinished(session, user_id)
            under_way = await self.under_way(user_id)
            await asyncio.gather(*(self._cancel(job_id, user_id) for job_id in under_way))
            await asyncio.gather(*map(let_go, unfinished))
            return await self._erase(user_id)

    async def under_way(self, user_id: int) -> tuple[str, ...]:
        """Return the ids of a user's jobs that have not ended."""
        async with self._database.begin() as session:
            return await quotas.under_way(session, user_id)

    def ban_of(self, user_id: int) -> Ban | None:
        """Return a user's ban, if there is one."""
        return self._bans.of(user_id)

    async def ban(self, user_id: int, reason: str, who: Who) -> None:
        """Let a user in nowhere any more."""
        async with self._audit.about(who, "ban", str(user_id), {"reason": reason}):
            await self._bans.add(user_id, who.id, reason)

    async def unban(self, user_id: int, who: Who) -> bool:
        """Lift a ban; tell whether there was one."""
        async with self._audit.about(who, "unban", str(user_id)) as note:
            lifted = await self._bans.remove(user_id)
            note.outcome = "done" if lifted else "was not banned"
            return lifted

    async def set_quota(self, user_id: int, rule: str, jobs: int | None, who: Who) -> None:
        """Allow a user `jobs` by the rule of that key; None gives the settings' number back."""
        arguments = {"rule": rule, "jobs": jobs}
        about = self._audit.about(who, "quota", str(user_id), arguments)
        async with about, self._database.begin() as session:
            await quotas.override(session, user_id, rule, jobs)

    async def entries(self, user_id: int) -> tuple[Entry, ...]:
        """Return what admins did about a user, newest first."""
        return await self._audit.entries(str(user_id), ENTRIES)

    async def forget_departed(self) -> None:
        """Finish what was begun for those who left, and delete what no longer counts."""
        async with self._database.begin() as session:
            departed = await leaving.departed(session)
        for user_id in departed:
            async with self._one_by_one:
                await self._erase(user_id)
        async with self._database.begin() as session:
            await leaving.forget(session, datetime.now(UTC) - self._trace)

    async def forget_periodically(self) -> None:
        """Go on deleting until cancelled; a database that is away is asked later."""
        while True:
            try:
                await self.forget_departed()
            except TROUBLE as error:
                log.warning("what is left of former users stays for now: %s", error)
            await asyncio.sleep(FORGET_EVERY_S)

    async def _cancel(self, job_id: str, user_id: int) -> None:
        try:
            await self._jobs.cancel(job_id, user_id)
        except RunnerFault as fault:
            log.warning("job %s could not be cancelled: %r", job_id, fault)

    async def _erase(self, user_id: int) -> Departure:
        async with self._database.begin() as session:
            gone = await leaving.erase_jobs(session, user_id, datetime.now(UTC))
            newest = await leaving.newest_trace(session, user_id)
        await asyncio.to_thread(self._remove, gone)
        return Departure(jobs=len(gone), until=newest and newest + self._trace)

    def _remove(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            shutil.rmtree(self._files.folder(job_id), ignore_errors=True)
