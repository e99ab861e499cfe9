"""Every answer of the HTTP contract, over real sockets."""

import asyncio
import hashlib
import io
import json

import msgspec
import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from runner.app import MAX_BODY, create_app
from runner.settings import RunnerSettings
from runner_client.secret import Secret
from runner_client.wire import (
    Capturing,
    Ended,
    Exporting,
    JobState,
    Mode,
    Preparing,
    Queued,
)
from tests.runner.api import JSON, Api
from tests.standin.problem import job, replaying

SLOW = replaying("ok-triton-1024", lag_s=0.05)


def altered(**changes: object) -> bytes:
    """Return a job's JSON with fields changed past what the types allow."""
    document = msgspec.json.decode(msgspec.json.encode(job()))
    return json.dumps(document | changes).encode()


async def test_a_job_tells_its_way_in_numbered_events(api: Api) -> None:
    spec = job(replaying("ok-geqrf-four-kernels"), count=2)
    await api.run(spec)
    events = await api.events(spec.id)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    kinds = [type(event) for event in events]
    assert kinds[:2] == [Queued, Preparing]
    assert kinds[-2:] == [Exporting, Ended]
    for index in (0, 1):
        steps = [e for e in events if isinstance(e, Capturing) and e.benchmark == index]
        kernels = [event.kernel for event in steps]
        assert kernels == sorted(kernels)
        assert (kernels[0], kernels[-1]) == (0, 4)
        assert (steps[0].connected, steps[-1].connected) == (False, True)
        assert (steps[-1].percent, steps[-1].passes) == (100, 38)
        assert steps[-1].name == "geqr2_batch_kernel_shmem"


async def test_the_same_id_is_one_job(api: Api) -> None:
    spec = job(mode=Mode.TEST)
    assert (await api.post(spec))[0] == 201
    assert (await api.post(spec))[0] == 200
    await api.result(spec.id)
    assert (await api.post(spec))[0] == 200
    assert (await api.post(replace(spec, leaderboard="other")))[0] == 409


async def test_the_same_job_posted_at_once_is_one_job(api: Api) -> None:
    spec = job(mode=Mode.TEST)
    answers = await asyncio.gather(*(api.post(spec) for _ in range(5)))
    assert sorted(status for status, _ in answers) == [200, 200, 200, 200, 201]
    await api.result(spec.id)
    events = await api.events(spec.id)
    assert [type(event) for event in events].count(Preparing) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "truncated"),
        (b"\xff", "invalid"),
        (altered(mode="guess"), "$.mode"),
        (altered(surprise=1), "surprise"),
        (altered(id="../../etc"), "$.id"),
        (altered(timeout_s=0), "$.timeout_s"),
        (altered(benchmarks=[]), "$.benchmarks"),
        (altered(benchmarks=[{"index": 0, "spec": "a: 1"}] * 2), "benchmarks: an index"),
        (altered(benchmarks=[{"index": 0, "spec": "a: 1\nb: 2"}]), "benchmarks: the spec"),
        (altered(files=[{"name": "../eval.py", "content": ""}]), "$.files[0].name"),
        (altered(files=[{"name": "submission.py", "content": ""}]), "files: a name"),
        (altered(files=[]), "evaluator: eval.py"),
        (altered(gpu="B200"), "gpu: this runner has H200"),
        (altered(submission_sha256="0" * 64), "submission_sha256"),
        (altered(capture={"launch_count": 0}), "$.capture.launch_count"),
        (altered(capture={"kernel_name": "a\0b"}), "capture.kernel_name"),
    ],
)
async def test_a_wrong_spec_is_refused_by_its_field(api: Api, body: bytes, field: str) -> None:
    status, error = await api.refusal("POST", "/jobs", body)
    assert status == 400
    assert field in error
    assert (await api.health()).queued == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/jobs/" + "a" * 32),
        ("GET", "/jobs/" + "a" * 32 + "/events"),
        ("GET", "/jobs/" + "a" * 32 + "/artifacts/manifest.json"),
        ("DELETE", "/jobs/" + "a" * 32),
        ("GET", "/jobs/..%2f..%2fetc"),
        ("GET", "/nothing"),
    ],
)
async def test_what_is_not_there_is_404(api: Api, method: str, path: str) -> None:
    assert (await api.refusal(method, path))[0] == 404


async def test_other_misuse(api: Api) -> None:
    assert (await api.refusal("PUT", "/jobs"))[0] == 405
    spec = job(mode=Mode.TEST)
    await api.post(spec)
    assert (await api.refusal("GET", f"/jobs/{spec.id}/events?after=-1"))[0] == 400
    assert (await api.refusal("GET", f"/jobs/{spec.id}/events?wait=nan"))[0] == 400


async def test_a_body_over_the_limit_is_413(api: Api) -> None:
    body = io.BytesIO(b"x" * (MAX_BODY + 1))
    async with api.session.post(f"{api.base}/jobs", data=body, headers=JSON) as answer:
        assert answer.status == 413


async def test_a_form_of_a_web_page_cannot_post_a_job(api: Api) -> None:
    body = msgspec.json.encode(job())
    status, _ = await api.call("POST", "/jobs", body, **{"Content-Type": "text/plain"})
    assert status == 415
    status, _ = await api.call("GET", "/health", Host="rebound.example")
    assert status == 401


async def test_artifacts_come_with_length_and_hash(api: Api) -> None:
    spec = job(replaying("ok-triton-1024"))
    result = await api.run(spec)
    assert result.manifest is not None
    for file in (*result.benchmarks[0].artifacts, result.manifest):
        url = f"{api.base}/jobs/{spec.id}/artifacts/{file.name}"
        async with api.session.get(url) as answer:
            body = await answer.read()
            assert answer.headers["X-Content-SHA256"] == file.sha256
            assert answer.headers["Content-Length"] == str(file.size) == str(len(body))
        assert hashlib.sha256(body).hexdigest() == file.sha256


async def test_only_listed_artifacts_are_served(api: Api) -> None:
    spec = job(replaying("ok-triton-1024"))
    await api.run(spec)
    for name in ("..%2fspec.json", "spec.json", "ncu-details.7.csv", ".manifest.json.new"):
        assert (await api.refusal("GET", f"/jobs/{spec.id}/artifacts/{name}"))[0] == 404


async def test_the_manifest_names_what_was_measured(api: Api) -> None:
    spec = job(replaying("ok-triton-1024"), count=2)
    await api.run(spec)
    _, body = await api.call("GET", f"/jobs/{spec.id}/artifacts/manifest.json")
    manifest = json.loads(body)
    assert manifest["leaderboard"] == "capitals"
    assert manifest["problem_commit"] == "0" * 40
    assert manifest["ncu_version"] == "2025.3.1.0"
    assert manifest["benchmark_specs"] == {str(b.index): b.spec for b in spec.benchmarks}
    assert manifest["capture_options"]["launch_count"] == 10
    assert manifest["capture_options"]["clock_control"] == "none"
    assert manifest["submission_sha256"] == spec.submission_sha256
    assert [b["status"] for b in manifest["benchmarks"]] == ["succeeded"] * 2
    assert [b["kernels"] for b in manifest["benchmarks"]] == [1, 1]
    assert len(manifest["benchmarks"][1]["artifacts"]) == 4


async def test_places_in_the_queue_are_told_as_they_change(api: Api) -> None:
    first, second, third = (job(SLOW) for _ in range(3))
    for spec in (first, second, third):
        await api.post(spec)
    await api.until(first.id, Capturing)
    assert (await api.health()).running == 1
    assert (await api.health()).queued == 2
    assert (await api.status(second.id)).state is JobState.QUEUED
    await api.call("DELETE", f"/jobs/{second.id}")
    await api.result(third.id)
    places = [e.ahead for e in await api.events(third.id) if isinstance(e, Queued)]
    assert places == [2, 1]


async def test_a_waiting_job_is_cancelled_at_once(api: Api) -> None:
    running, waiting = job(SLOW), job(SLOW)
    await api.post(running)
    await api.post(waiting)
    status, _ = await api.call("DELETE", f"/jobs/{waiting.id}")
    assert status == 200
    result = await api.result(waiting.id)
    assert result.failure is not None
    assert result.failure.kind.value == "cancelled"
    assert (await api.call("DELETE", f"/jobs/{waiting.id}"))[0] == 200
    assert (await api.result(running.id)).failure is None


async def test_a_running_capture_is_cancelled_and_what_it_has_is_kept(api: Api) -> None:
    spec = job(replaying("partial-hang-terminated"), count=2)
    await api.post(spec)
    await api.until_kernel(spec.id)
    await api.call("DELETE", f"/jobs/{spec.id}")
    result = await api.result(spec.id)
    begun, other = result.benchmarks
    assert begun.status.value == "partial"
    assert begun.failure is not None
    assert begun.failure.kind.value == "cancelled"
    assert begun.kernels > 0
    assert other.status.value == "failed"
    assert other.artifacts == ()


async def test_a_long_poll_answers_when_something_happens(api: Api) -> None:
    spec = job(SLOW)
    await api.post(spec)
    seen = len(await api.until(spec.id, Preparing))
    assert await api.events(spec.id, seen, wait=30)
    await api.result(spec.id)
    assert await api.events(spec.id, 10_000, wait=30) == []


async def test_a_full_queue_is_503(settings: RunnerSettings) -> None:
    app = create_app(replace(settings, max_queued=1))
    async with TestServer(app) as server, ClientSession() as session:
        api = Api(session, str(server.make_url("/v1")))
        running = job(SLOW)
        await api.post(running)
        await api.until(running.id, Preparing)
        assert (await api.post(job(SLOW)))[0] == 201
        status, error = await api.refusal("POST", "/jobs", msgspec.json.encode(job()))
        assert (status, error) == (
            503,
            "no further job is taken: the queue is full (1 of 1 places)",
        )


async def test_a_runner_without_ncu_takes_no_profile(settings: RunnerSettings) -> None:
    app = create_app(replace(settings, ncu="no-such-ncu"))
    async with TestServer(app) as server, ClientSession() as session:
        api = Api(session, str(server.make_url("/v1")))
        assert "no-such-ncu" in (await api.health()).problems[0]
        status, error = await api.refusal("POST", "/jobs", msgspec.json.encode(job()))
        assert status == 503
        assert "no-such-ncu" in error
        assert (await api.run_one(job(mode=Mode.TEST))).failure is None


async def test_a_disk_that_takes_no_job_is_503(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runner.jobs.store.write_atomic", full)
    status, error = await api.refusal("POST", "/jobs", msgspec.json.encode(job()))
    assert (status, error) == (503, "the job cannot be kept: No space left on device")


async def test_every_route_wants_the_token(settings: RunnerSettings) -> None:
    app = create_app(replace(settings, token=Secret("right")))
    async with TestServer(app) as server, ClientSession() as session:
        api = Api(session, str(server.make_url("/v1")))
        for path in ("/health", "/jobs/" + "a" * 32, "/nothing"):
            assert (await api.refusal("GET", path))[0] == 401
        for header in ("Bearer wrong", "right", "Bearer ", "Bearer rïght", "Basic right"):
            assert (await api.call("GET", "/health", Authorization=header))[0] == 401
        assert (await api.call("GET", "/health", Authorization="Bearer right"))[0] == 200


async def test_a_job_that_breaks_the_runner_does_not_stop_the_queue(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("runner.jobs.job.write_manifest", broken)
        result = await api.run(job(mode=Mode.TEST))
    assert result.failure is not None
    assert result.failure.kind.value == "runner-error"
    assert (await api.run_one(job(mode=Mode.TEST))).failure is None
