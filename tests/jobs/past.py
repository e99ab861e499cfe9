"""Jobs of the past, made without a runner: rows and files as a fetched result leaves them."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from sqlalchemy import update

from bot.jobs.model import Job, JobPhase
from bot.services import Services
from bot.storage import jobs
from bot.storage.database import Database
from bot.storage.files import ArtifactFiles
from bot.storage.jobs import NewJob
from bot.storage.tables import JobRow
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Artifact,
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    Failure,
    JobResult,
    System,
)
from tests.jobs.runner import CSV

SHAPE = Benchmark(index=0, spec="batch: 20; n: 32")
FILES = {"ncu-details.0.csv": CSV.encode(), "profile.0.ncu-rep": b"r" * 1_000}


@dataclass
class Past:
    """Puts jobs into a bot's tables and folder."""

    services: Services
    user_id: int

    @property
    def database(self) -> Database:
        return self.services.deliveries._database

    @property
    def files(self) -> ArtifactFiles:
        return ArtifactFiles(self.services.settings.data)

    def folder(self, job_id: str) -> Path:
        return self.files.folder(job_id)

    async def job(
        self,
        phase: JobPhase = JobPhase.DELIVERED,
        *,
        at: datetime | None = None,
        files: dict[str, bytes] = FILES,
        failure: Failure | None = None,
        name: str = "kernel.py",
        guild_id: int | None = None,
    ) -> str:
        """Make a job that has come as far as `phase`, last moved at that moment; return its id."""
        board = self.services.catalogue.all()[0]
        job = Job(
            id=uuid4().hex,
            user_id=self.user_id,
            leaderboard=board.name,
            gpu="H200",
            runner="r1",
            file_name=name,
            benchmarks=(SHAPE,),
            capture=CaptureOptions(),
            phase=JobPhase.ACCEPTED,
        )
        new = NewJob(
            job=job,
            version_id=board.version_id,
            commit=None,
            submission=b"secret code",
            submission_sha256="0" * 64,
            config_sha256="1" * 64,
            channel_id=5,
            guild_id=guild_id,
        )
        async with self.database.begin() as session:
            await jobs.add(session, new)
        async with self.database.begin() as session:
            if phase in {JobPhase.FETCHED, JobPhase.DELIVERING, JobPhase.DELIVERED}:
                result = self._write(job.id, files, failure)
                await jobs.save_result(session, job.id, result, result.benchmarks[0].artifacts)
            moved = {"phase": phase.value, "phase_at": at or datetime.now(UTC)}
            if at is not None:
                moved["created_at"] = at
            await session.execute(update(JobRow).where(JobRow.id == job.id).values(**moved))
        return job.id

    async def row(self, job_id: str) -> JobRow:
        """Return a job's row."""
        async with self.database.begin() as session:
            return await session.get_one(JobRow, job_id)

    def _write(self, job_id: str, files: dict[str, bytes], failure: Failure | None) -> JobResult:
        folder = self.folder(job_id)
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        artifacts = tuple(
            Artifact(name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest())
            for name, content in files.items()
        )
        status = BenchmarkStatus.FAILED if failure else BenchmarkStatus.SUCCEEDED
        benchmark = BenchmarkResult(
            index=SHAPE.index,
            spec=SHAPE.spec,
            status=status,
            failure=failure,
            kernels=0 if failure else 1,
            artifacts=artifacts,
        )
        return JobResult(
            failure=None, benchmarks=(benchmark,), system=System(gpu="H200"), manifest=None
        )
