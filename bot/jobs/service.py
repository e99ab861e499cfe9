"""A job's life: validated, stored, handed over, followed, fetched, delivered."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from bot.jobs.errors import NotRegistered, NotYours, ResultGone, RunnerFault
from bot.jobs.faults import fault_kind, runner_faults
from bot.jobs.follow import OnEvent, artifacts, follow, patient, phase_of
from bot.jobs.kept import KeptResults
from bot.jobs.model import Job, JobOutcome, JobPhase, PastProfile, ProfileRequest
from bot.jobs.runners import Runners
from bot.jobs.spec import build_spec
from bot.jobs.validate import Draft, Rules, check
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.gpus import GpuNames
from bot.settings import BotSettings
from bot.storage import jobs as rows
from bot.storage.accounts import Accounts
from bot.storage.database import Database, Session
from bot.storage.files import ArtifactFiles
from runner_client.wire import FailureKind, JobEvent, JobResult, JobSpec


class JobService:
    """Jobs of all users."""

    def __init__(
        self,
        settings: BotSettings,
        database: Database,
        accounts: Accounts,
        catalogue: Catalogue,
        runners: Runners,
    ) -> None:
        self._settings = settings
        self._database = database
        self._accounts = accounts
        self._catalogue = catalogue
        self._runners = runners
        self._files = ArtifactFiles(settings.data)
        self._kept = KeptResults(self._files)
        self._names = GpuNames(settings.gpu_aliases)

    async def submit(self, request: ProfileRequest) -> Job:
        """Check a request, store its job and hand it to a runner.

        Raises a subclass of Refused, and then nothing was stored; or of RunnerFault, and then the
        job is stored as failed.
        """
        if not await self._accounts.is_registered(request.user_id):
            raise NotRegistered
        draft = check(request, self._catalogue, self._rules())
        job = self._job(request, draft)
        spec = _spec(job, draft, self._runners.client(job.runner).address.gpu)
        async with self._database.begin() as session:
            await rows.add(session, _new(job, draft, spec, request))
        await self._hand_over(job, spec)
        return replace(job, phase=JobPhase.QUEUED)

    async def run(self, job: Job, on_event: OnEvent) -> JobOutcome:
        """Follow a job to its end, fetch its files and read its counters.

        `on_event` is called with every event once. An unreachable runner is waited for as long as
        the settings say. Raises a subclass of RunnerFault; the job is then stored as failed.
        """
        try:
            with runner_faults(job.runner, job.id):
                result, files = await self._follow(job, on_event)
        except RunnerFault as fault:
            await self.failed(job.id, fault_kind(fault))
            raise
        await self._store_result(job, result)
        return await self._kept.outcome(job, result, files)

    async def load(self, job_id: str, user_id: int, benchmark: int | None = None) -> JobOutcome:
        """Return the outcome of a user's job from the disk, or of one benchmark of it.

        Raises NotYours; ResultGone where its counters are no longer kept.
        """
        async with self._database.begin() as session:
            job = await self._own(session, job_id, user_id)
            result = await rows.find_result(session, job_id)
        if result is None:
            raise ResultGone(job_id)
        return await self._kept.load(job, result, benchmark)

    async def past_profiles(self, user_id: int, most: int) -> tuple[PastProfile, ...]:
        """Return the benchmarks of a user's latest `most` jobs with counters, newest first."""
        async with self._database.begin() as session:
            return await rows.past_profiles(session, user_id, most)

    async def cancel(self, job_id: str, user_id: int) -> None:
        """Ask the runner to end a job; `run` then ends with what was captured.

        Raises NotYours, RunnerFault.
        """
        async with self._database.begin() as session:
            job = await self._own(session, job_id, user_id)
        if job.phase in rows.FINAL:
            return
        with runner_faults(job.runner, job.id):
            await self._runners.client(job.runner).cancel(job.id)

    async def delivered(self, job_id: str) -> None:
        """Record that the author has the result."""
        await self._move(job_id, JobPhase.DELIVERED)

    async def failed(self, job_id: str, kind: str) -> None:
        """Record that the author will get no result, and why."""
        await self._move(job_id, JobPhase.FAILED, kind)

    async def _own(self, session: Session, job_id: str, user_id: int) -> Job:
        job = await rows.find(session, job_id)
        if job is None or job.user_id != user_id:
            raise NotYours(job_id)
        return job

    def _rules(self) -> Rules:
        return Rules(
            gpus=self._runners.gpus(),
            now=datetime.now(UTC),
            profile_after_deadline=self._settings.profile_after_deadline,
            names=self._names,
        )

    def _job(self, request: ProfileRequest, draft: Draft) -> Job:
        return Job(
            id=uuid4().hex,
            user_id=request.user_id,
            leaderboard=draft.leaderboard.name,
            gpu=draft.gpu,
            runner=self._runners.next_for(draft.gpu),
            file_name=draft.file_name,
            benchmarks=draft.benchmarks,
            capture=request.capture,
            phase=JobPhase.ACCEPTED,
            notes=draft.notes,
        )

    async def _hand_over(self, job: Job, spec: JobSpec) -> None:
        try:
            with runner_faults(job.runner, job.id):
                await self._runners.client(job.runner).submit(spec)
        except RunnerFault as fault:
            await self.failed(job.id, fault_kind(fault))
            raise
        await self._move(job.id, JobPhase.QUEUED)

    async def _follow(self, job: Job, on_event: OnEvent) -> tuple[JobResult, dict[str, Path]]:
        client = self._runners.client(job.runner)
        stored = JobPhase.QUEUED

        async def note(event: JobEvent) -> None:
            nonlocal stored
            if phase_of(event) is not stored:
                stored = phase_of(event)
                await self._move(job.id, stored)
            await on_event(event)

        result = await follow(client, job, note, self._settings.runner_patience)
        call = patient(self._settings.runner_patience)
        folder = self._files.folder(job.id)
        files = {
            file.name: await call(client.fetch, job.id, file, folder) for file in artifacts(result)
        }
        return result, files

    async def _store_result(self, job: Job, result: JobResult) -> None:
        """A cancelled job that captured nothing ends here; all else is to be delivered."""
        fetched = artifacts(result)
        cancelled = result.failure is not None and result.failure.kind is FailureKind.CANCELLED
        empty = not any(entry.kernels for entry in result.benchmarks)
        async with self._database.begin() as session:
            await rows.save_result(session, job.id, result, fetched)
            to = JobPhase.CANCELLED if cancelled and empty else JobPhase.FETCHED
            await rows.move(session, job.id, to)

    async def _move(self, job_id: str, to: JobPhase, failure_kind: str | None = None) -> None:
        async with self._database.begin() as session:
            await rows.move(session, job_id, to, failure_kind)


def _spec(job: Job, draft: Draft, gpu: str) -> JobSpec:
    """Build the job as its runner wants it, which knows its GPU by `gpu`."""
    board = draft.leaderboard
    return build_spec(
        id=job.id,
        requester=requester(job.user_id),
        leaderboard=board.name,
        commit=board.commit,
        gpu=gpu,
        task=board.task,
        submission=draft.text,
        benchmarks=job.benchmarks,
        capture=job.capture,
    )


def requester(user_id: int) -> str:
    """Tell users apart for a runner without telling it who they are."""
    return hashlib.sha256(f"ncubot user {user_id}".encode()).hexdigest()[:32]


def _new(job: Job, draft: Draft, spec: JobSpec, request: ProfileRequest) -> rows.NewJob:
    return rows.NewJob(
        job=job,
        version_id=draft.leaderboard.version_id,
        commit=draft.leaderboard.commit,
        submission=draft.text.encode(),
        submission_sha256=spec.submission_sha256,
        config_sha256=spec.config_sha256,
        channel_id=request.channel_id,
        guild_id=request.guild_id,
    )
