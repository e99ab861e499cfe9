"""Keeps files of jobs for as long and as many as the operator wants, and tables and folder alike.

Nothing here touches the files of a job in flight. Tables first, then the folder: what a crash
leaves between the two is found the next time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice

from bot.jobs.errors import NeverCalledFor
from bot.settings import BotSettings
from bot.storage import deliveries, retention
from bot.storage.database import TROUBLE, Database
from bot.storage.files import MARK, ArtifactFiles
from bot.storage.retention import Stored
from bot.storage.url import build_url, place
from bot.wording import sentence

log = logging.getLogger(__name__)
EVERY_S = 600.0
AT_ONCE = 500


class Retention:
    """The files of all jobs."""

    def __init__(self, settings: BotSettings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._files = ArtifactFiles(settings.data)
        self._place = place(build_url(settings.database))

    async def watch(self) -> None:
        """Reconcile once, then remove what is over age or size, until cancelled."""
        await self._logged(self.reconcile)
        while True:
            await self._logged(self.sweep)
            await asyncio.sleep(EVERY_S)

    async def sweep(self) -> int:
        """Remove files that no row knows, those over age, and the oldest over size; return jobs."""
        sizes = await asyncio.to_thread(self._files.sizes)
        known = await self._stored(sizes)
        now = datetime.now(UTC)
        oldest = now - timedelta(days=self._settings.keep_days)
        total, removed = sum(sizes.values()), 0
        for job_id in await self._without_use(sizes, known):
            await self._remove(job_id)
            total, removed = total - sizes[job_id], removed + 1
        for over_at, job_id in _in_order(known):
            if over_at >= oldest and total <= self._settings.keep_bytes:
                break
            if await self.drop(job_id, now):
                total, removed = total - sizes[job_id], removed + 1
        await self._end_kept(oldest)
        if removed:
            log.info("removed the files of %d jobs", removed)
        return removed

    async def _without_use(
        self, sizes: Mapping[str, int], known: Mapping[str, Stored]
    ) -> frozenset[str]:
        """Return the jobs whose files can go: no row wants them, and no other database does."""
        gone = {job_id for job_id, stored in known.items() if not stored.has_files}
        strays = sizes.keys() - known.keys()
        ours = await asyncio.to_thread(self._files.claim, self._place)
        if strays and not ours:
            log.warning(
                "%d folders of jobs belong to another database than %s: they are left alone. "
                "Where the database has moved, delete the file %s beside them",
                len(strays),
                self._place,
                MARK,
            )
            return frozenset(gone)
        return frozenset(gone | strays)

    async def _end_kept(self, oldest: datetime) -> None:
        """Let a result that was kept for its author end with its files."""
        async with self._database.begin() as session:
            ended = await deliveries.end_kept(session, oldest, sentence(NeverCalledFor()))
        if ended:
            log.info("nobody came for the results of %d jobs", ended)

    async def drop(self, job_id: str, now: datetime) -> bool:
        """Remove a job's files; False, and they stay, where it is in flight."""
        async with self._database.begin() as session:
            if not await retention.mark_gone(session, job_id, now):
                return False
        await self._remove(job_id)
        return True

    async def reconcile(self) -> None:
        """Make tables and folder say the same: forget files that are not there, remove others."""
        after, many = "", True
        while many:
            async with self._database.begin() as session:
                some = await retention.file_sizes(session, after, AT_ONCE)
            for job_id, sizes in some.items():
                await self._reconcile(job_id, sizes)
            after, many = max(some, default=after), len(some) == AT_ONCE

    async def _reconcile(self, job_id: str, sizes: dict[str, int]) -> None:
        missing = await asyncio.to_thread(self._files.missing, job_id, sizes)
        if missing:
            log.warning("job %s has lost %d of its %d files", job_id, len(missing), len(sizes))
            async with self._database.begin() as session:
                await retention.forget_files(session, job_id, missing)
                if len(missing) == len(sizes):
                    await retention.mark_gone(session, job_id, datetime.now(UTC))
        await asyncio.to_thread(self._files.remove_others, job_id, frozenset(sizes) - missing)

    async def _stored(self, job_ids: Iterable[str]) -> dict[str, Stored]:
        found: dict[str, Stored] = {}
        left = iter(job_ids)
        while some := list(islice(left, AT_ONCE)):
            async with self._database.begin() as session:
                found |= await retention.stored(session, some)
        return found

    async def _remove(self, job_id: str) -> None:
        try:
            await asyncio.to_thread(self._files.remove, job_id)
        except OSError as error:
            log.warning("files of job %s could not be removed: %s", job_id, error)

    async def _logged(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except TROUBLE as error:
            log.warning("files of jobs could not be looked after: %s", error)


def _in_order(known: dict[str, Stored]) -> list[tuple[datetime, str]]:
    """Return the jobs that are over and have files, oldest first."""
    return sorted(
        (stored.over_at, job_id)
        for job_id, stored in known.items()
        if stored.over_at is not None and stored.has_files
    )
