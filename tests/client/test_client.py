"""The client against a server that keeps to the contract, and against one that does not."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from runner_client import client as client_module
from runner_client.captures import CaptureOptions
from runner_client.client import RunnerClient
from runner_client.errors import Broken, Denied, Refused, Unknown, Unreachable
from runner_client.wire import (
    SHA256_HEADER,
    Artifact,
    Benchmark,
    Ended,
    JobSpec,
    JobState,
    Mode,
    PythonEvaluator,
    Queued,
    SourceFile,
)
from tests.client.server import TOKEN, address, serving

JOB = "0123456789abcdef0123456789abcdef"
STATUS = {"id": JOB, "state": "queued", "result": None}
DATA = b"report" * 100_000
REPORT = Artifact(
    name="profile.3-batch-20-n-32.ncu-rep", size=len(DATA), sha256=hashlib.sha256(DATA).hexdigest()
)


def spec() -> JobSpec:
    return JobSpec(
        id=JOB,
        requester="somebody",
        leaderboard="qr_v2",
        problem_commit=None,
        gpu="H200",
        mode=Mode.PROFILE,
        evaluator=PythonEvaluator(main="eval.py"),
        files=(SourceFile(name="eval.py", content="print()"),),
        submission=SourceFile(name="submission.py", content="print()"),
        benchmarks=(Benchmark(index=3, spec="batch: 20; n: 32"),),
        capture=CaptureOptions(),
        timeout_s=180,
        seed=None,
        config_sha256="0" * 64,
        submission_sha256="0" * 64,
    )


@asynccontextmanager
async def client_of(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> AsyncIterator[RunnerClient]:
    async with serving(handler) as where, RunnerClient(where, attempts=2, answer_s=0.5) as client:
        yield client


@asynccontextmanager
async def answering(response: Callable[[], web.Response]) -> AsyncIterator[RunnerClient]:
    async def handler(_: web.Request) -> web.Response:
        return response()

    async with client_of(handler) as client:
        yield client


async def test_submit_sends_the_spec_and_the_token() -> None:
    seen: list[JobSpec] = []

    async def handler(request: web.Request) -> web.Response:
        assert request.method == "POST"
        assert request.path == "/v1/jobs"
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        seen.append(msgspec.json.decode(await request.read(), type=JobSpec))
        return web.json_response(STATUS, status=201)

    async with client_of(handler) as client:
        status = await client.submit(spec())
    assert status.state is JobState.QUEUED
    assert seen == [spec()]


async def test_events_ask_for_those_after_a_number_and_drop_older_ones() -> None:
    at = "2026-09-01T12:00:00Z"

    async def handler(request: web.Request) -> web.Response:
        assert dict(request.query) == {"after": "1", "wait": "0.1"}
        events = [
            {"event": "queued", "number": 1, "at": at, "ahead": 2},
            {"event": "queued", "number": 2, "at": at, "ahead": 1},
            {"event": "ended", "number": 3, "at": at},
        ]
        return web.json_response({"events": events})

    async with client_of(handler) as client:
        events = await client.events(JOB, 1, 0.1)
    assert [type(event) for event in events] == [Queued, Ended]
    assert [event.number for event in events] == [2, 3]


async def test_cancel_needs_no_body() -> None:
    async def handler(request: web.Request) -> web.Response:
        assert request.method == "DELETE"
        return web.Response(status=204)

    async with client_of(handler) as client:
        await client.cancel(JOB)


async def test_health_is_decoded() -> None:
    body = {"engine": "local", "gpu": "H200", "system": {"gpu": "x"}, "queued": 0, "running": 1}
    async with answering(lambda: web.json_response(body)) as client:
        assert (await client.health()).running == 1


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, '{"error": "no"}', Denied),
        (403, "", Denied),
        (404, '{"error": "no such job"}', Unknown),
        (302, "", Broken),
        (500, "<html>", Refused),
        (502, "<html>", Unreachable),
        (503, "", Unreachable),
        (503, '{"error": "the queue is full"}', Refused),
    ],
)
async def test_status_codes(status: int, body: str, error: type[Exception]) -> None:
    headers = {"Location": "http://127.0.0.1:1/v1/elsewhere"} if status == 302 else {}
    async with answering(lambda: web.Response(status=status, text=body, headers=headers)) as client:
        with pytest.raises(error):
            await client.status(JOB)


async def test_a_refusal_keeps_the_runners_reason() -> None:
    async with answering(lambda: web.json_response({"error": "queue full"}, status=503)) as client:
        with pytest.raises(Refused) as refused:
            await client.submit(spec())
    assert (refused.value.status, refused.value.reason) == (503, "queue full")


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        "",
        "[" * 100_000,
        '{"id": "short", "state": "queued"}',
        f'{{"id": "{JOB}", "state": "resting"}}',
        f'{{"id": "{JOB}", "state": "queued", "surprise": 1}}',
        f'{{"id": "{"f" * 32}", "state": "queued"}}',
    ],
)
async def test_answers_off_the_contract_are_broken(body: str) -> None:
    async with answering(lambda: web.Response(text=body)) as client:
        with pytest.raises(Broken):
            await client.status(JOB)


async def test_an_artifact_name_with_a_path_is_broken() -> None:
    status = {
        "id": JOB,
        "state": "ended",
        "result": {
            "failure": None,
            "benchmarks": [],
            "system": {"gpu": "x"},
            "manifest": {"name": "../manifest.json", "size": 1, "sha256": "0" * 64},
        },
    }
    async with answering(lambda: web.json_response(status)) as client:
        with pytest.raises(Broken):
            await client.status(JOB)


async def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_JSON_BYTES", 1_000_000)

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 100_000)

    async with client_of(handler) as client:
        with pytest.raises(Broken, match="without end"):
            await client.status(JOB)


async def test_a_slow_answer_counts_as_none() -> None:
    async def handler(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    async with serving(handler) as where, RunnerClient(where, attempts=1, answer_s=0.1) as client:
        with pytest.raises(Unreachable):
            await client.status(JOB)


async def test_a_dropped_connection_is_tried_again() -> None:
    calls: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        calls.append(request.path)
        if len(calls) == 1 and request.transport is not None:
            request.transport.abort()
        return web.json_response(STATUS)

    async with client_of(handler) as client:
        assert (await client.submit(spec())).id == JOB
    assert len(calls) == 2


async def test_nobody_there() -> None:
    async with RunnerClient(address(1), attempts=2) as client:
        with pytest.raises(Unreachable):
            await client.health()


def kept(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def file_response(data: bytes, sha256: str = REPORT.sha256) -> web.Response:
    return web.Response(body=data, headers={SHA256_HEADER: sha256})


async def test_fetch_leaves_exactly_the_file(tmp_path: Path) -> None:
    async with answering(lambda: file_response(DATA)) as client:
        path = await client.fetch(JOB, REPORT, tmp_path / "job")
    assert path == tmp_path / "job" / REPORT.name
    assert path.read_bytes() == DATA
    assert kept(tmp_path / "job") == [path]


@pytest.mark.parametrize(
    ("data", "sha256", "reason"),
    [
        (DATA, "1" * 64, "another SHA-256"),
        (DATA[:-1], REPORT.sha256, "smaller"),
        (DATA + b"x", REPORT.sha256, "larger"),
        (b"x" * len(DATA), REPORT.sha256, "another SHA-256"),
    ],
)
async def test_a_wrong_file_is_not_kept(
    tmp_path: Path, data: bytes, sha256: str, reason: str
) -> None:
    async with answering(lambda: file_response(data, sha256)) as client:
        with pytest.raises(Broken, match=reason):
            await client.fetch(JOB, REPORT, tmp_path)
    assert kept(tmp_path) == []


async def test_an_endless_file_is_cut(tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={SHA256_HEADER: REPORT.sha256})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 100_000)

    async with client_of(handler) as client:
        with pytest.raises(Broken, match="larger"):
            await client.fetch(JOB, REPORT, tmp_path)
    assert kept(tmp_path) == []


async def test_a_file_cut_short_is_fetched_again(tmp_path: Path) -> None:
    calls = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal calls
        calls += 1
        if calls > 1:
            return file_response(DATA)
        response = web.StreamResponse(headers={SHA256_HEADER: REPORT.sha256})
        response.content_length = len(DATA)
        await response.prepare(request)
        await response.write(DATA[:1000])
        assert request.transport is not None
        request.transport.close()
        return response

    async with client_of(handler) as client:
        path = await client.fetch(JOB, REPORT, tmp_path)
    assert path.read_bytes() == DATA


async def test_a_file_over_the_cap_is_not_asked_for(tmp_path: Path) -> None:
    async with RunnerClient(address(1), max_artifact_bytes=10) as client:
        with pytest.raises(Broken, match="more than this bot takes"):
            await client.fetch(JOB, REPORT, tmp_path)
