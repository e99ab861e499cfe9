"""A scripted runner: keeps to the contract but for the faults that a test sets."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from aiohttp import web

from runner_client.address import RunnerAddress
from runner_client.captures import Coverage
from runner_client.wire import (
    SHA256_HEADER,
    Artifact,
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    Capturing,
    Ended,
    Failure,
    FailureKind,
    Health,
    JobEvent,
    JobEvents,
    JobResult,
    JobSpec,
    JobState,
    JobStatus,
    Preparing,
    Queued,
    Refusal,
    System,
)
from tests.client.server import serving

AT = datetime(2026, 9, 1, tzinfo=UTC)
EVENTS: tuple[JobEvent, ...] = (
    Queued(number=1, at=AT, ahead=1),
    Preparing(number=2, at=AT),
    Capturing(number=3, at=AT, benchmark=0, kernel=1, limit=10, name="k"),
    Ended(number=4, at=AT),
)
CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value",'
    '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"\n'
    '"0","1","python3","127.0.0.1","my_kernel","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0",'
    '"GPU Speed Of Light Throughput","Duration","us","12.5","","","","",""\n'
)
WELL = Health(engine="x", gpu="H200", system=System(gpu="x"), queued=0, running=0)


@dataclass
class ScriptedRunner:
    """What it was asked, and what it answers."""

    events: tuple[JobEvent, ...] = EVENTS
    specs: list[JobSpec] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=lambda: {"ncu-details.0.csv": CSV.encode()})
    status_of: dict[str, int] = field(default_factory=dict)
    """Method and kind of resource (`POST jobs`, `GET events`) to a status code to fail with."""
    words: str = ""
    """What a refusal says; one without words has no body."""
    fails: int = 10_000
    """How many requests fail so, before the runner is well again."""
    spoiled: bytes | None = None
    failure: Failure | None = None
    benchmarks: tuple[Benchmark, ...] | None = None
    running: int = 0
    """How often the job is said to run still."""
    silent: bool = False
    """Whether the job ends without a result."""
    manifest: Artifact | None = None
    health: Health = field(default_factory=lambda: WELL)
    kernels: int = 1
    """How many launches each benchmark is said to have."""
    coverage: Coverage | None = None
    """What each benchmark is said to stand for; one without counters has the file of a census."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer any request."""
        parts = request.path.split("/")[2:]
        kind = parts[2] if len(parts) > 2 else "job" if len(parts) > 1 else parts[0]
        status = self.status_of.get(f"{request.method} {kind}")
        if status is not None and self.fails > 0:
            self.fails -= 1
            if self.words:
                return reply(Refusal(error=self.words), status)
            return web.Response(status=status)
        if kind == "events":
            after = int(request.query["after"])
            return reply(JobEvents(events=self.events[after:]))
        if kind == "artifacts":
            data = self.files[parts[3]]
            headers = {SHA256_HEADER: hashlib.sha256(data).hexdigest()}
            return web.Response(body=self.spoiled or data, headers=headers)
        return await self.handle_job(request, kind, parts)

    async def handle_job(
        self, request: web.Request, kind: str, parts: list[str]
    ) -> web.StreamResponse:
        if kind == "health":
            return reply(self.health)
        if request.method == "POST":
            self.specs.append(msgspec.json.decode(await request.read(), type=JobSpec))
            return reply(JobStatus(id=self.specs[-1].id, state=JobState.QUEUED))
        if request.method == "DELETE":
            self.cancelled.append(parts[1])
            return web.Response(status=204)
        if self.running > 0:
            self.running -= 1
            return reply(JobStatus(id=parts[1], state=JobState.RUNNING))
        result = None if self.silent else self.result()
        return reply(JobStatus(id=parts[1], state=JobState.ENDED, result=result))

    def result(self) -> JobResult:
        """Say that every benchmark succeeded, unless the job failed."""
        asked = self.specs[-1].benchmarks if self.benchmarks is None else self.benchmarks
        return JobResult(
            failure=self.failure,
            benchmarks=() if self.failure else tuple(self.one(entry) for entry in asked),
            system=System(gpu="NVIDIA H200"),
            manifest=self.manifest,
        )

    def one(self, benchmark: Benchmark) -> BenchmarkResult:
        kind = "ncu-details.{}.csv" if self.coverage is None else "census.{}.json"
        name = kind.format(benchmark.index)
        data = self.files.setdefault(name, CSV.encode())
        artifact = Artifact(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())
        return BenchmarkResult(
            index=benchmark.index,
            spec=benchmark.spec,
            status=BenchmarkStatus.SUCCEEDED,
            kernels=self.kernels,
            artifacts=(artifact,),
            coverage=self.coverage,
        )

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[RunnerAddress]:
        """Serve on loopback."""
        async with serving(self.handle) as address:
            yield address


def reply(value: msgspec.Struct, status: int = 200) -> web.Response:
    """Answer with JSON."""
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json")


CANCELLED = Failure(kind=FailureKind.CANCELLED)
