"""The queue as its users see it: fair, bounded, one job a GPU, cancelled at any stage."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from runner.app import create_app
from runner.health.gpus import Gpu, choose, inherited, parse
from runner.settings import RunnerSettings
from runner_client.wire import (
    Capturing,
    Exporting,
    FailureKind,
    JobSpec,
    JobState,
    Mode,
    Preparing,
    Queued,
)
from tests.runner.api import Api
from tests.runner.waiting import until
from tests.standin.problem import GOOD, cuda_job, job, replaying

SLOW = replaying("ok-triton-1024", lag_s=0.05)
HANG = replaying("partial-hang-terminated")
LISTING = "0, GPU-aaaa, NVIDIA H200\n1, GPU-bbbb, NVIDIA H200\n2, GPU-cccc, NVIDIA T400\n"
SMI = """#!/bin/sh
case "$*" in
*uuid*) printf '%s' '{listing}' ;;
*) exit 1 ;;
esac
"""


@asynccontextmanager
async def serving(settings: RunnerSettings) -> AsyncIterator[Api]:
    async with TestServer(create_app(settings)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


def of(user: str, source: str = GOOD, mode: Mode = Mode.TEST) -> JobSpec:
    return job(source, mode, requester=user)


async def begun_at(api: Api, spec: JobSpec) -> float:
    events = await api.until(spec.id, Preparing)
    return next(event.at.timestamp() for event in events if isinstance(event, Preparing))


async def test_one_user_s_jobs_do_not_block_another_s_first(api: Api) -> None:
    busy = of("one", HANG, Mode.PROFILE)
    await api.post(busy)
    await api.until_kernel(busy.id)
    many = [of("one") for _ in range(10)]
    for spec in many:
        await api.post(spec)
    late = of("two")
    await api.post(late)
    assert [e.ahead for e in await api.until(late.id, Queued) if isinstance(e, Queued)] == [1]
    await api.call("DELETE", f"/jobs/{busy.id}")
    begun = [await begun_at(api, spec) for spec in (late, *many)]
    assert begun == sorted(begun)
    pushed_back = [e.ahead for e in await api.events(many[0].id) if isinstance(e, Queued)]
    assert pushed_back[:2] == [1, 2]


async def test_one_user_has_so_many_places(settings: RunnerSettings) -> None:
    async with serving(replace(settings, max_queued_each=1)) as api:
        busy = of("one", HANG, Mode.PROFILE)
        await api.post(busy)
        await api.until_kernel(busy.id)
        assert (await api.post(of("one")))[0] == 201
        status, error = await api.refusal("POST", "/jobs", msgspec.json.encode(of("one")))
        assert status == 503
        assert error.endswith("this user's places in the queue are taken (1 of 1)")
        assert (await api.post(of("two")))[0] == 201
        await api.call("DELETE", f"/jobs/{busy.id}")


@pytest.fixture
def two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an nvidia-smi in place that lists two H200 and the one that drives the screen."""
    program = tmp_path / "smi" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(SMI.format(listing=LISTING), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


SHOWS = "import os\nprint('sees', os.environ['CUDA_VISIBLE_DEVICES'])\n" + GOOD
WAITS = SHOWS + "import time\ntime.sleep(600)\n"


async def test_every_gpu_has_one_job(two_gpus: None, settings: RunnerSettings) -> None:
    async with serving(settings) as api:
        assert (await api.health()).slots == 2
        first, second = job(HANG), job(HANG)
        waiting = job(SHOWS, Mode.TEST)
        for spec in (first, second, waiting):
            await api.post(spec)
        await api.until_kernel(first.id)
        await api.until_kernel(second.id)
        health = await api.health()
        assert (health.running, health.queued) == (2, 1)
        assert (await api.status(waiting.id)).state is JobState.QUEUED
        await api.call("DELETE", f"/jobs/{second.id}")
        (benchmark,) = (await api.result(waiting.id)).benchmarks
        assert "sees GPU-bbbb" in benchmark.output_tail
        await api.call("DELETE", f"/jobs/{first.id}")


async def test_the_settings_narrow_the_gpus(two_gpus: None, settings: RunnerSettings) -> None:
    async with serving(replace(settings, gpus=("1",))) as api:
        assert (await api.health()).slots == 1
        benchmark = await api.run_one(job(SHOWS, Mode.TEST))
        assert "sees GPU-bbbb" in benchmark.output_tail


def test_which_gpus_are_used() -> None:
    listed = parse(LISTING)
    assert listed[0] == Gpu("0", "GPU-aaaa", "H200")
    assert choose(listed, (), "h200") == ("GPU-aaaa", "GPU-bbbb")
    assert choose(listed, (), "other") == ("GPU-aaaa", "GPU-bbbb", "GPU-cccc")
    assert choose(listed, ("2", "GPU-aaaa", "2"), "H200") == ("GPU-cccc", "GPU-aaaa")
    assert choose(listed, ("MIG-1",), "H200") == ("MIG-1",)
    assert choose((), (), "H200") == ("",)
    assert parse("No devices were found\n") == ()
    assert inherited({"CUDA_VISIBLE_DEVICES": "3, GPU-aaaa,"}) == ("3", "GPU-aaaa")
    assert inherited({}) == ()


def replace_program(path: str, script: str) -> None:
    """Put a shell script in a program's place; `{real}` in it is where the program went."""
    program = Path(path)
    real = program.rename(program.with_name(f"real-{program.name}"))
    program.write_text(f"#!/bin/sh\n{script.format(real=real)}\n", encoding="utf-8")
    program.chmod(0o755)


async def test_cancelled_while_it_is_prepared(api: Api) -> None:
    spec = job(WAITS.replace("['CUDA_VISIBLE_DEVICES']", ".get('HOME')"))
    await api.post(spec)
    await api.until(spec.id, Preparing)
    await api.call("DELETE", f"/jobs/{spec.id}")
    result = await api.result(spec.id)
    assert result.failure is not None
    assert result.failure.kind is FailureKind.CANCELLED
    assert not any(isinstance(event, Capturing) for event in await api.events(spec.id))


async def test_cancelled_while_it_is_exported(settings: RunnerSettings) -> None:
    replace_program(settings.ncu, 'case "$*" in *"--import "*) sleep 600;; esac\nexec {real} "$@"')
    async with serving(settings) as api:
        spec = job(replaying("ok-triton-1024"), count=2)
        await api.post(spec)
        await api.until(spec.id, Exporting)
        await api.call("DELETE", f"/jobs/{spec.id}")
        first, second = (await api.result(spec.id)).benchmarks
    for benchmark in (first, second):
        assert benchmark.failure is not None
        assert benchmark.failure.kind is FailureKind.CANCELLED
    assert [file.name for file in first.artifacts] == ["profile.0-size-1024-seed-31232.ncu-rep"]
    assert second.artifacts == ()


async def test_a_job_of_a_compiled_problem_is_cancelled_at_once(settings: RunnerSettings) -> None:
    replace_program(settings.nvcc, "sleep 600")
    async with serving(settings) as api:
        spec = cuda_job("// nothing")
        await api.post(spec)
        await api.until(spec.id, Preparing)
        await api.call("DELETE", f"/jobs/{spec.id}")
        failure = (await api.result(spec.id)).failure
        assert failure is not None
        assert failure.kind is FailureKind.CANCELLED


async def test_a_disk_that_is_full_for_a_while_loses_no_result(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.jobs.scheduler.SAVE_AGAIN_S", 0.02)
    tries = 0

    def full(*_: object) -> None:
        nonlocal tries
        tries += 1
        raise OSError(28, "No space left on device")

    spec = job(mode=Mode.TEST)
    with monkeypatch.context() as patch:
        patch.setattr("runner.jobs.store.Store.save_result", full)
        await api.post(spec)
        await until(lambda: tries >= 2)
        assert (await api.status(spec.id)).state is JobState.RUNNING
    assert (await api.result(spec.id)).failure is None


async def test_old_results_are_forgotten(
    settings: RunnerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.jobs.scheduler.SWEEP_EVERY_S", 0.02)
    async with serving(replace(settings, keep_s=0.01)) as api:
        running, ended = job(HANG), job(mode=Mode.TEST)
        await api.run(ended)
        await api.post(running)
        await until(lambda: not (settings.folder / "jobs" / ended.id).exists())
        assert (await api.call("GET", f"/jobs/{ended.id}"))[0] == 404
        assert (await api.call("GET", f"/jobs/{ended.id}/events"))[0] == 404
        assert (await api.status(running.id)).state is not JobState.ENDED
        await api.call("DELETE", f"/jobs/{running.id}")
