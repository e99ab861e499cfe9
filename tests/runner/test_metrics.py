"""What Prometheus and the log get of a runner, over real sockets."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from runner.app import create_app
from runner.health.gate import Gate
from runner.settings import RunnerSettings
from runner_client.logs import JsonFormatter
from runner_client.secret import Secret
from runner_client.wire import Capturing, Mode
from tests.runner.api import Api
from tests.standin.problem import job, replaying

FINE = replaying("ok-triton-1024")
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def scraped(api: Api) -> Samples:
    """Read /metrics as Prometheus does."""
    async with api.session.get(api.base.removesuffix("/v1") + "/metrics") as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        text = await answer.text()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def one(samples: Samples, name: str, **labels: str) -> float:
    """Return a sample's value, 0 where there is none."""
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


async def test_jobs_are_counted_by_mode_and_outcome(api: Api) -> None:
    await api.run(job(FINE, count=2))
    await api.run(job(replaying("fail-submission-raises")))
    await api.run(job(mode=Mode.TEST))
    samples = await scraped(api)
    assert one(samples, "ncubot_jobs_total", mode="profile", outcome="succeeded") == 1
    assert one(samples, "ncubot_jobs_total", mode="profile", outcome="submission-error") == 1
    assert one(samples, "ncubot_jobs_total", mode="test", outcome="succeeded") == 1
    counted = {"mode": "profile", "status": "succeeded", "kind": "none"}
    assert one(samples, "ncubot_benchmarks_total", **counted) == 2
    failed = {"mode": "profile", "status": "failed", "kind": "submission-error"}
    assert one(samples, "ncubot_benchmarks_total", **failed) == 1


async def test_seconds_bytes_and_waits(api: Api) -> None:
    result = await api.run(job(FINE))
    samples = await scraped(api)
    in_ncu = one(samples, "ncubot_ncu_seconds_total")
    assert in_ncu == pytest.approx(result.benchmarks[0].duration_s)
    assert one(samples, "ncubot_outside_ncu_seconds_total") > 0
    assert one(samples, "ncubot_queue_wait_seconds_count") == 1
    assert one(samples, "ncubot_queue_wait_seconds_sum") >= 0
    reports = [a.size for a in result.benchmarks[0].artifacts if a.name.endswith(".ncu-rep")]
    assert one(samples, "ncubot_artifact_bytes_total", kind="ncu-rep") == sum(reports)


async def test_the_queue_is_seen_while_it_waits(api: Api) -> None:
    slow = replaying("partial-hang-terminated")
    running, waiting = job(slow), job(slow)
    await api.post(running)
    await api.until(running.id, Capturing)
    await api.post(waiting)
    samples = await scraped(api)
    assert one(samples, "ncubot_running_jobs") == 1
    assert one(samples, "ncubot_queue_length") == 1
    await api.call("DELETE", f"/jobs/{waiting.id}")
    await api.call("DELETE", f"/jobs/{running.id}")
    await api.result(running.id)
    await api.result(waiting.id)
    samples = await scraped(api)
    assert one(samples, "ncubot_queue_length") == 0
    assert one(samples, "ncubot_jobs_total", mode="profile", outcome="cancelled") == 2
    assert one(samples, "ncubot_queue_wait_seconds_count") == 1


async def test_it_says_what_runs_and_what_was_found(api: Api) -> None:
    samples = await scraped(api)
    (info,) = [dict(labels) for name, labels in samples if name == "ncubot_build_info"]
    assert info["engine"] == "local"
    assert info["gpu"] == "H200"
    assert info["ncu_version"] == "2025.3.1.0"
    assert info["version"]
    assert one(samples, "ncubot_findings", level="problem") == 0


@asynccontextmanager
async def served(settings: RunnerSettings) -> AsyncIterator[Api]:
    async with TestServer(create_app(settings)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


async def test_metrics_want_the_token(settings: RunnerSettings) -> None:
    async with served(replace(settings, token=Secret("right"))) as api:
        url = api.base.removesuffix("/v1") + "/metrics"
        async with api.session.get(url) as answer:
            assert answer.status == 401
        headers = {"Authorization": "Bearer right"}
        async with api.session.get(url, headers=headers) as answer:
            assert answer.status == 200


async def test_two_services_in_one_process_do_not_share_counts(
    api: Api, settings: RunnerSettings
) -> None:
    await api.run(job(mode=Mode.TEST))
    async with served(replace(settings, data=settings.data / "other")) as other:
        await other.run(job(mode=Mode.TEST))
        for each in (api, other):
            samples = await scraped(each)
            assert one(samples, "ncubot_jobs_total", mode="test", outcome="succeeded") == 1


async def test_log_lines_have_the_jobs_id_and_nothing_of_the_submission(
    api: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, str]] = []
    formatter = JsonFormatter()

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(formatter.format(record)))

    def broken(*_: object) -> None:
        raise OSError("disk full")

    handler = Lines()
    logging.getLogger().addHandler(handler)
    caplog.set_level(logging.INFO)
    spec = job(FINE + "# SECRET-IDEA\nprint('SECRET-IDEA')\n")
    try:
        await api.run(spec)
        with monkeypatch.context() as patch:
            patch.setattr("runner.jobs.job.write_manifest", broken)
            await api.run(again := replace(spec, id="f" * 32))
    finally:
        logging.getLogger().removeHandler(handler)
    about = [line for line in lines if line.get("job") == spec.id]
    assert any(line["message"] == "profile of capitals begins" for line in about)
    assert any(line["message"] == "outcome: succeeded" for line in about)
    failed = [line for line in lines if line.get("job") == again.id and "exception" in line]
    assert len(failed) == 1
    assert "SECRET-IDEA" not in json.dumps(lines)


async def test_a_check_waits_for_jobs_and_jobs_wait_for_it() -> None:
    gate, order = Gate(), list[str]()
    inside = asyncio.Event()

    async def at_work(name: str) -> None:
        async with gate.job():
            order.append(name)
            inside.set()
            await asyncio.sleep(0.02)
            order.append(name + " ends")

    async def check() -> None:
        async with gate.alone():
            order.append("check")
            await asyncio.sleep(0)
            order.append("check ends")

    first = asyncio.create_task(at_work("first"))
    await inside.wait()
    assert not gate.idle
    checking = asyncio.create_task(check())
    await asyncio.sleep(0)
    await asyncio.gather(first, checking, at_work("second"))
    assert order == ["first", "first ends", "check", "check ends", "second", "second ends"]
    assert gate.idle


async def test_a_check_that_is_called_off_lets_jobs_in_again() -> None:
    gate = Gate()
    async with gate.job():
        waiting = asyncio.create_task(gate.alone().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(1), gate.job():
            assert not gate.idle
