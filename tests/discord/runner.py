"""`python -m tests.discord.runner`: a stand-in runner that keeps to the wire contract and is quick.

A line in the submission says what becomes of the job: `hold: SECONDS` before it ends, `report:
BYTES` of its report, `fail: KIND` in place of counters, `pictures: yes` for counters that the bot
draws, which takes it far longer than everything else.
"""

import argparse
import asyncio
import hashlib
import os
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from aiohttp import web

from runner_client.wire import (
    API,
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
from tests.discord.orphans import die_with_parent

LISTENING = "listening on "
MANIFEST = "manifest.json"
SYSTEM = System(gpu="NVIDIA H200", ncu_version="2025.3.1.0")
CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value",'
    '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"\n'
)
ROW = (
    '"0","1","python3","127.0.0.1","my_kernel","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0",'
    '"GPU Speed Of Light Throughput",{0},"","","","",""\n'
)
METRICS = ('"Elapsed Cycles","cycle","22500"', '"Duration","us","12.5"')


@dataclass(slots=True)
class _Job:
    spec: JobSpec
    began: float = field(default_factory=time.monotonic)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ends_at: float | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    cancelled: bool = False

    def wish(self, word: str, otherwise: str) -> str:
        found = re.search(rf"\b{word}: (\S+)", self.spec.submission.content)
        return found[1] if found else otherwise

    @property
    def hold_s(self) -> float:
        return 0.0 if self.cancelled else float(self.wish("hold", "0"))

    def events(self) -> list[tuple[float, JobEvent]]:
        """Return all events with their moments after the beginning."""
        first = self.spec.benchmarks[0].index
        capturing = Capturing(
            number=3, at=self.at, benchmark=first, kernel=1, limit=10, name="my_kernel"
        )
        return [
            (0.0, Queued(number=1, at=self.at, ahead=1)),
            (self.hold_s / 4, Preparing(number=2, at=self.at)),
            (self.hold_s / 2, capturing),
            (self.hold_s, Ended(number=4, at=self.at)),
        ]

    def due(self, after: int) -> tuple[list[JobEvent], float | None]:
        """Return the events after a number, and in how many seconds the next one is due."""
        passed = time.monotonic() - self.began
        events = self.events()
        found = [event for at, event in events if at <= passed and event.number > after]
        later = [at - passed for at, _ in events if at > passed]
        return found, min(later, default=None)

    def is_over(self) -> bool:
        return time.monotonic() - self.began >= self.hold_s


class Runner:
    """The jobs and what is answered about them."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._jobs: dict[str, _Job] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer any call."""
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            return _answer(Refusal(error="no"), 401)
        parts = request.path.removeprefix(API).strip("/").split("/")
        if parts[0] == "health":
            health = Health(engine="quick", gpu="H200", system=SYSTEM, queued=0, running=0)
            return _answer(health)
        if request.method == "POST":
            return await self._post(request)
        job = self._jobs.get(parts[1])
        if job is None:
            return _answer(Refusal(error="no such job"), 404)
        return await _about(job, parts[2:], request)

    async def _post(self, request: web.Request) -> web.Response:
        spec = msgspec.json.decode(await request.read(), type=JobSpec)
        known = spec.id in self._jobs
        job = self._jobs.setdefault(spec.id, _Job(spec))
        return _answer(_status(job), 200 if known else 201)


async def _about(job: _Job, parts: list[str], request: web.Request) -> web.Response:
    if request.method == "DELETE":
        job.cancelled = True
        return web.Response(status=204)
    if parts == ["events"]:
        return await _events(job, request)
    if parts[:1] == ["artifacts"]:
        return _file(job, parts[1])
    return _answer(_status(job))


async def _events(job: _Job, request: web.Request) -> web.Response:
    after, wait_s = int(request.query["after"]), float(request.query["wait"])
    until = time.monotonic() + wait_s
    while True:
        found, next_s = job.due(after)
        left = until - time.monotonic()
        if found or left <= 0 or next_s is None:
            return _answer(JobEvents(events=tuple(found)))
        await asyncio.sleep(min(next_s, left))


def _status(job: _Job) -> JobStatus:
    if not job.is_over():
        return JobStatus(id=job.spec.id, state=JobState.RUNNING)
    return JobStatus(id=job.spec.id, state=JobState.ENDED, result=_result(job))


def _result(job: _Job) -> JobResult:
    kind = "cancelled" if job.cancelled else job.wish("fail", "")
    manifest = _kept(job, MANIFEST, msgspec.json.encode({"job": job.spec.id}))
    if kind:
        failure = Failure(kind=FailureKind(kind))
        return JobResult(failure=failure, benchmarks=(), system=SYSTEM, manifest=manifest)
    results = tuple(_benchmark(job, one) for one in job.spec.benchmarks)
    return JobResult(failure=None, benchmarks=results, system=SYSTEM, manifest=manifest)


def _benchmark(job: _Job, asked: Benchmark) -> BenchmarkResult:
    report = job.files.get(f"profile.{asked.index}.ncu-rep") or os.urandom(
        int(job.wish("report", "2000"))
    )
    return BenchmarkResult(
        index=asked.index,
        spec=asked.spec,
        status=BenchmarkStatus.SUCCEEDED,
        kernels=1,
        artifacts=(
            _kept(job, f"profile.{asked.index}.ncu-rep", report),
            _kept(job, f"ncu-details.{asked.index}.txt", b"my_kernel\n"),
            _kept(job, f"ncu-details.{asked.index}.csv", _counters(job)),
        ),
    )


def _counters(job: _Job) -> bytes:
    """Return the export; without a duration there is nothing to draw."""
    shown = METRICS if job.wish("pictures", "no") == "yes" else METRICS[:1]
    return (CSV + "".join(map(ROW.format, shown))).encode()


def _kept(job: _Job, name: str, content: bytes) -> Artifact:
    job.files[name] = content
    return Artifact(name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def _file(job: _Job, name: str) -> web.Response:
    _status(job)
    if name not in job.files:
        return _answer(Refusal(error="no such file"), 404)
    content = job.files[name]
    return web.Response(body=content, headers={SHA256_HEADER: hashlib.sha256(content).hexdigest()})


def _answer(value: msgspec.Struct, status: int = 200) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json")


async def serve(port: int, token: str) -> None:
    """Serve on loopback until ended."""
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", API + "/{rest:.*}", Runner(token).serve)
    server = web.AppRunner(app, access_log=None)
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", port).start()
    print(f"{LISTENING}http://127.0.0.1:{server.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    die_with_parent()
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.token))


if __name__ == "__main__":
    main()
