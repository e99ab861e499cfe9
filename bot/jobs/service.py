"""A job's life up to its result: validated, stored, handed over, followed, fetched."""

import asyncio
import hashlib
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from bot.delivery.address import Address
from bot.delivery.steps import Step, reached
from bot.jobs.entrance import admit, limits_of
from bot.jobs.errors import NotRegistered, NotYours, ResultGone, RunnerFault
from bot.jobs.faults import fault_kind, runner_faults
from bot.jobs.follow import OnEvent, artifacts, follow, patient, phase_of
from bot.jobs.handover import Handover
from bot.jobs.kept import KeptResults
from bot.jobs.model import UNDER_WAY, Job, JobOutcome, JobPhase, PastProfile, ProfileRequest
from bot.jobs.runners import Runners
from bot.jobs.spec import build_spec
from bot.jobs.validate import Draft, Rules, check, check_offered
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.digest import config_sha256
from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.model import Task
from bot.settings import BotSettings
from bot.storage import boards, deliveries, runners
from bot.storage import jobs as rows
from bot.storage.accounts import Accounts
from bot.storage.database import Database, Session
from bot.storage.files import ArtifactFiles
from bot.storage.terminal_jobs import Wanted
from bot.wording import sentence
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
        self._limits = limits_of(settings)
        self._handover = Handover(database, runners)

    async def submit(self, request: ProfileRequest, address: Address | None = None) -> Job:
        """Check a request and store its job; `run` takes it from there, at any later time.

        `address` is where its author is to be reached. Raises a subclass of Refused, and then
        nothing was stored.
        """
        if not await self._accounts.is_registered(request.user_id):
            raise NotRegistered
        draft = check(request, self._catalogue, self._rules())
        job = self._job(request, draft)
        async with self._database.begin() as session:
            await admit(session, job.user_id, draft, datetime.now(UTC), self._limits)
            await rows.add(session, _new(job, draft, request))
            if address is not None:
                await deliveries.add(session, job.id, address)
        reached(Step.AFTER_ROW, job.id)
        return job

    def wanted(self, request: ProfileRequest) -> Wanted:
        """Return by what a job of the same request is found. Raises a subclass of Refused."""
        draft = check(request, self._catalogue, self._rules())
        return Wanted(
            user_id=request.user_id,
            version_id=draft.leaderboard.version_id,
            gpu=draft.gpu,
            submission_sha256=hashlib.sha256(draft.text.encode()).hexdigest(),
            benchmarks=draft.benchmarks,
            capture=request.capture,
        )

    async def run(self, job: Job, on_event: OnEvent) -> JobOutcome:
        """Hand a job over, follow it to its end, fetch its files and read its counters.

        It may have come any part of that way before. `on_event` is called with every event of its
        runner once. An unreachable runner is waited for as long as the settings say. Raises a
        subclass of RunnerFault; the job is then stored as failed.
        """
        try:
            job, (result, files) = await self._handover.through(job, self._attempt, on_event)
        except RunnerFault as fault:
            await self.failed(job.id, fault_kind(fault), sentence(fault))
            raise
        reached(Step.AFTER_FETCH, job.id)
        await self._store_result(job, result)
        reached(Step.AFTER_FETCHED, job.id)
        return await self._kept.outcome(job, result, files)

    async def outcome(self, job: Job) -> JobOutcome | None:
        """Return what a job brought, with those files that are still there; None where nothing."""
        async with self._database.begin() as session:
            result = await rows.find_result(session, job.id)
        if result is None:
            return None
        files = await asyncio.to_thread(self._present, job.id, result)
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

    async def belongs(self, job_id: str, user_id: int) -> bool:
        """Whether there is such a job, and it is that user's."""
        async with self._database.begin() as session:
            job = await rows.find(session, job_id)
        return job is not None and job.user_id == user_id

    async def cancel(self, job_id: str, user_id: int) -> bool:
        """Ask for a job's end; `run` then ends with what was captured.

        Returns True where no runner had it, or none that answers had begun it: then it has ended.
        Raises NotYours, RunnerFault.
        """
        async with self._database.begin() as session:
            job = await self._own(session, job_id, user_id)
            ended = await runners.cancel_early(session, job_id)
        if job.phase not in UNDER_WAY:
            return False
        try:
            with runner_faults(job.runner, job_id):
                await self._runners.client(job.runner).cancel(job_id)
        except RunnerFault as fault:
            ended = ended or await self._handover.withdraw(job_id, fault)
            if not ended:
                raise
        return ended

    async def failed(self, job_id: str, kind: str, words: str) -> None:
        """Record that the author gets no result, and the sentence that says why.

        Its runner drops the job, in case it has it.
        """
        async with self._database.begin() as session:
            if await rows.move(session, job_id, JobPhase.FAILED, kind):
                await deliveries.explain(session, job_id, words)
                await runners.recall(session, job_id)
        reached(Step.AFTER_FAILED, job_id)

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
        check_offered(request.capture, self._runners.captures(draft.gpu))
        return Job(
            id=uuid4().hex,
            user_id=request.user_id,
            leaderboard=draft.leaderboard.name,
            gpu=draft.gpu,
            runner=self._runners.next_for(draft.gpu, mode=request.capture.mode),
            file_name=draft.file_name,
            benchmarks=draft.benchmarks,
            capture=request.capture,
            phase=JobPhase.ACCEPTED,
            notes=draft.notes,
        )

    async def _attempt(self, job: Job, on_event: OnEvent) -> tuple[JobResult, dict[str, Path]]:
        with runner_faults(job.runner, job.id):
            await self._hand_over(job)
            return await self._follow(job, on_event)

    async def _hand_over(self, job: Job) -> None:
        """Give a job to its runner, for which the same id twice is one job."""
        if job.phase is not JobPhase.ACCEPTED:
            return
        client = self._runners.client(job.runner)
        spec = await self._spec(job, client.address.gpu)
        await patient(self._settings.runner_patience)(client.submit, spec)
        reached(Step.AFTER_HAND_OVER, job.id)
        await self._move(job.id, JobPhase.QUEUED)
        reached(Step.AFTER_QUEUED, job.id)

    async def _spec(self, job: Job, gpu: str) -> JobSpec:
        """Build the job as its runner wants it, which knows its GPU by `gpu`."""
        async with self._database.begin() as session:
            source = await rows.find_source(session, job.id)
            task = await boards.load_task(session, source.version_id)
        return await asyncio.to_thread(_spec, job, source, task, gpu)

    async def _follow(self, job: Job, on_event: OnEvent) -> tuple[JobResult, dict[str, Path]]:
        client = self._runners.client(job.runner)
        stored = JobPhase.QUEUED

        async def note(event: JobEvent) -> None:
            nonlocal stored
            if phase_of(event) is not stored:
                stored = phase_of(event)
                await self._move(job.id, stored)
                if stored is JobPhase.RUNNING:
                    reached(Step.AFTER_RUNNING, job.id)
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

    def _present(self, job_id: str, result: JobResult) -> dict[str, Path]:
        folder = self._files.folder(job_id)
        paths = {file.name: folder / file.name for file in artifacts(result)}
        return {name: path for name, path in paths.items() if path.is_file()}

    async def _move(self, job_id: str, to: JobPhase) -> None:
        async with self._database.begin() as session:
            await rows.move(session, job_id, to)


def _spec(job: Job, source: rows.Source, task: Task, gpu: str) -> JobSpec:
    return build_spec(
        id=job.id,
        requester=requester(job.user_id),
        leaderboard=job.leaderboard,
        commit=source.commit,
        gpu=gpu,
        task=task,
        submission=source.submission.decode(),
        benchmarks=job.benchmarks,
        capture=job.capture,
    )


def requester(user_id: int) -> str:
    """Tell users apart for a runner without telling it who they are."""
    return hashlib.sha256(f"ncubot user {user_id}".encode()).hexdigest()[:32]


def _new(job: Job, draft: Draft, request: ProfileRequest) -> rows.NewJob:
    submission = draft.text.encode()
    return rows.NewJob(
        job=job,
        version_id=draft.leaderboard.version_id,
        commit=draft.leaderboard.commit,
        submission=submission,
        submission_sha256=hashlib.sha256(submission).hexdigest(),
        config_sha256=config_sha256(draft.leaderboard.task, job.capture),
        channel_id=request.channel_id,
        guild_id=request.guild_id,
    )
