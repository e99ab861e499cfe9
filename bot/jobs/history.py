"""What somebody has profiled before: listed, shown again, deleted."""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.jobs.errors import FilesGone, JobOver, JobUnderWay, NoFiles, NotYours
from bot.jobs.model import Job, JobOutcome, JobPhase, PastJob, Whose
from bot.jobs.service import JobService
from bot.storage import history
from bot.storage import jobs as rows
from bot.storage.database import Database
from bot.storage.files import ArtifactFiles

A_PAGE = 10
_START = re.compile(r"[0-9a-f]{6,32}")
_UNDER_WAY = frozenset({JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a list; `number` counts from 0 and is below `pages`, which is at least 1."""

    jobs: tuple[PastJob, ...]
    number: int
    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """A job that brought nothing, and the sentence that says why, if there was one."""

    job: Job
    words: str | None


class JobHistory:
    """The past jobs of all users."""

    def __init__(self, database: Database, jobs: JobService, files: ArtifactFiles) -> None:
        self._database = database
        self._jobs = jobs
        self._files = files

    async def page(self, whose: Whose, number: int) -> Page:
        """Return a page of a user's jobs, newest first; the last one for a number beyond it."""
        async with self._database.begin() as session:
            total = await history.count(session, whose)
            pages = max(1, -(-total // A_PAGE))
            number = min(max(number, 0), pages - 1)
            listed = await history.page(session, whose, number * A_PAGE, A_PAGE)
        return Page(jobs=listed, number=number, pages=pages, total=total)

    async def newest(self, whose: Whose, most: int) -> tuple[PastJob, ...]:
        """Return a user's latest jobs, newest first."""
        async with self._database.begin() as session:
            return await history.page(session, whose, 0, most)

    async def find(self, whose: Whose, text: str) -> PastJob:
        """Return a user's job by its id or the first six or more digits of it. Raises NotYours."""
        start = text.strip().casefold()
        if _START.fullmatch(start) is None:
            raise NotYours(text)
        async with self._database.begin() as session:
            found = await history.find(session, whose, start)
        if len(found) != 1:
            raise NotYours(text)
        return found[0]

    async def show(self, past: PastJob) -> JobOutcome | Nothing:
        """Return what came of a job, read from the disk. Raises JobUnderWay, FilesGone."""
        if is_under_way(past):
            raise JobUnderWay(past.id, past.phase)
        async with self._database.begin() as session:
            job = await rows.find(session, past.id)
            words = await history.words(session, past.id)
        if job is None:
            raise NotYours(past.id)
        outcome = await self._jobs.outcome(job)
        if outcome is None:
            return Nothing(job, words)
        if past.files_gone_at is not None and any(one.kernels for one in outcome.result.benchmarks):
            if past.phase is JobPhase.FAILED and words is not None:
                return Nothing(job, words)
            raise FilesGone(past.id, past.files_gone_at)
        return outcome

    async def files(self, past: PastJob) -> JobOutcome:
        """Return what came of a job that has files. Raises JobUnderWay, FilesGone, NoFiles."""
        shown = await self.show(past)
        if past.files_gone_at is not None:
            raise FilesGone(past.id, past.files_gone_at)
        if isinstance(shown, Nothing) or not _has_files(shown):
            raise NoFiles(past.id)
        return shown

    async def delete(self, whose: Whose, past: PastJob) -> None:
        """Delete a job's files and what was sent and got with it. Raises JobUnderWay."""
        async with self._database.begin() as session:
            if not await history.wipe(session, whose, past.id, datetime.now(UTC)):
                raise JobUnderWay(past.id, _phase_word(past.phase))
        await asyncio.to_thread(self._files.remove, past.id)


def is_under_way(past: PastJob) -> bool:
    """Whether a runner still has to work for a job."""
    return past.phase in _UNDER_WAY


def refuse_over(past: PastJob) -> None:
    """Raise JobOver where there is nothing to cancel."""
    if not is_under_way(past):
        raise JobOver(past.id)


def _has_files(outcome: JobOutcome) -> bool:
    return outcome.manifest is not None or any(one.files for one in outcome.benchmarks)


def _phase_word(phase: JobPhase) -> str:
    """Name the phase of a job that is not over: its author has still to be told of a failure."""
    over = phase in rows.FINAL
    return JobPhase.DELIVERING.value if over else phase.value
