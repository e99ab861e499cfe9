"""What the tests say to a runner over HTTP."""

from dataclasses import dataclass

import msgspec
from aiohttp import ClientSession

from runner_client.wire import (
    BenchmarkResult,
    Capturing,
    Ended,
    Health,
    JobEvent,
    JobEvents,
    JobResult,
    JobSpec,
    JobStatus,
    Refusal,
)

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Api:
    """One runner's address."""

    session: ClientSession
    base: str

    async def post(self, spec: JobSpec) -> tuple[int, bytes]:
        """Post a job."""
        return await self.call("POST", "/jobs", msgspec.json.encode(spec))

    async def call(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Return status and body of any call."""
        async with self.session.request(
            method, self.base + path, data=body, headers=JSON | headers
        ) as answer:
            return answer.status, await answer.read()

    async def refusal(self, method: str, path: str, body: bytes | None = None) -> tuple[int, str]:
        """Return status and sentence of a call that is refused."""
        status, answer = await self.call(method, path, body)
        return status, msgspec.json.decode(answer, type=Refusal).error

    async def status(self, job_id: str) -> JobStatus:
        """Return a job's state."""
        _, body = await self.call("GET", f"/jobs/{job_id}")
        return msgspec.json.decode(body, type=JobStatus)

    async def events(self, job_id: str, after: int = 0, wait: float = 0) -> list[JobEvent]:
        """Return events after a number."""
        _, body = await self.call("GET", f"/jobs/{job_id}/events?after={after}&wait={wait}")
        return list(msgspec.json.decode(body, type=JobEvents).events)

    async def until(self, job_id: str, kind: type[JobEvent]) -> list[JobEvent]:
        """Follow a job up to the first event of a kind; return all events so far."""
        seen: list[JobEvent] = []
        while not any(isinstance(event, kind) for event in seen):
            seen += await self.events(job_id, len(seen), wait=10)
        return seen

    async def until_kernel(self, job_id: str) -> list[JobEvent]:
        """Follow a job up to its first captured kernel; return all events so far."""
        seen = await self.until(job_id, Capturing)
        while not any(isinstance(event, Capturing) and event.kernel for event in seen):
            seen += await self.events(job_id, len(seen), wait=10)
        return seen

    async def result(self, job_id: str) -> JobResult:
        """Follow a job to its end."""
        await self.until(job_id, Ended)
        result = (await self.status(job_id)).result
        assert result is not None
        return result

    async def run(self, spec: JobSpec) -> JobResult:
        """Post a job and follow it to its end."""
        status, body = await self.post(spec)
        assert status == 201, body
        return await self.result(spec.id)

    async def run_one(self, spec: JobSpec) -> BenchmarkResult:
        """Run a job with one benchmark."""
        result = await self.run(spec)
        assert result.failure is None
        (benchmark,) = result.benchmarks
        return benchmark

    async def health(self) -> Health:
        """Return the runner's health."""
        _, body = await self.call("GET", "/health")
        return msgspec.json.decode(body, type=Health)
