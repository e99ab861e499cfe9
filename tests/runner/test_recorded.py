"""The engine that replays recordings: only its own samples, and every word says so."""

import asyncio
import hashlib
import json
import lzma
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from runner.app import create_app
from runner.recorded import BadRecording, load_recordings
from runner.settings import RECORDINGS, EngineName, RunnerSettings
from runner_client.captures import CaptureOptions
from runner_client.wire import BenchmarkStatus, Capturing, Exporting, FailureKind, Mode
from tests.runner.api import Api
from tests.standin.problem import GOOD, SPECS, WRONG, job

SAMPLE = GOOD + "# the sample\n"


@pytest.fixture
def folder(tmp_path: Path, recordings: Path) -> Path:
    """Make one recording out of a recorded run."""
    target = tmp_path / "recordings" / "capitals-sample-0"
    shutil.copytree(recordings / "ok-geqrf-four-kernels", target)
    target.chmod(0o755)
    (target / "profile.ncu-rep.xz").write_bytes(lzma.compress(b"report"))
    about = {
        "leaderboard": "capitals",
        "submission": {"name": "sample.py", "sha256": hashlib.sha256(SAMPLE.encode()).hexdigest()},
        "benchmark": {"index": 0, "spec": SPECS[0]},
        "language": "py",
        "gpu": "NVIDIA H200",
        "recorded_at": "2026-11-30T00:00:00Z",
        "exit_code": 0,
        "duration_s": 21.5,
        "system": {"gpu": "NVIDIA H200", "device_count": 1, "driver": "580", "ncu_version": "2025"},
        "options": ["--set", "full"],
    }
    (target / "recording.json").write_text(json.dumps(about), encoding="utf-8")
    return target.parent


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> RunnerSettings:
    """Return settings of a recorded engine, at full speed."""
    return RunnerSettings(
        data=tmp_path / "data", engine=EngineName.RECORDED, recordings=folder, replay_s=0.01
    )


@pytest.fixture
async def replayer(settings: RunnerSettings) -> AsyncIterator[Api]:
    """Serve the recordings."""
    async with TestServer(create_app(settings)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


async def test_its_health_says_where_it_was_recorded(replayer: Api) -> None:
    health = await replayer.health()
    assert (health.engine, health.gpu) == ("recorded", "H200")
    assert health.recorded_on == "NVIDIA H200"
    assert health.problems == ()


async def test_a_sample_gives_its_recording(replayer: Api) -> None:
    spec = job(SAMPLE)
    result = await replayer.run(spec)
    assert result.recorded_on == "NVIDIA H200"
    assert result.system.gpu == "NVIDIA H200"
    (benchmark,) = result.benchmarks
    assert benchmark.status is BenchmarkStatus.SUCCEEDED
    assert benchmark.kernels == 4
    assert benchmark.check is not None
    assert benchmark.duration_s == 21.5
    assert len(benchmark.artifacts) == 4
    events = await replayer.events(spec.id)
    kernels = [e.kernel for e in events if isinstance(e, Capturing)]
    assert kernels == sorted(kernels)
    assert (kernels[0], kernels[-1]) == (0, 4)
    assert any(isinstance(event, Exporting) for event in events)
    _, manifest = await replayer.call("GET", f"/jobs/{spec.id}/artifacts/manifest.json")
    assert json.loads(manifest)["recorded_on"] == "NVIDIA H200"


async def test_anything_else_gets_the_list_of_what_there_is(replayer: Api) -> None:
    others = (
        job(WRONG),
        job(SAMPLE, Mode.TEST),
        job(SAMPLE, capture=CaptureOptions(launch_count=2)),
        job(SAMPLE, capture=CaptureOptions(kernel_name="add")),
    )
    for spec in others:
        result = await replayer.run(spec)
        assert result.failure is not None
        assert result.failure.kind is FailureKind.NOT_RECORDED
        assert f"capitals with sample.py (0 · {SPECS[0]})" in result.failure.detail
        assert result.benchmarks == ()


async def test_a_shape_that_was_not_recorded_fails_alone(replayer: Api) -> None:
    result = await replayer.run(job(SAMPLE, count=2))
    assert [one.status.value for one in result.benchmarks] == ["succeeded", "failed"]
    failure = result.benchmarks[1].failure
    assert failure is not None
    assert failure.kind is FailureKind.NOT_RECORDED


async def test_a_replay_can_be_cancelled(settings: RunnerSettings) -> None:
    app = create_app(replace(settings, replay_s=600))
    async with TestServer(app) as server, ClientSession() as session:
        api = Api(session, str(server.make_url("/v1")))
        spec = job(SAMPLE)
        await api.post(spec)
        await api.until(spec.id, Capturing)
        await api.call("DELETE", f"/jobs/{spec.id}")
        (benchmark,) = (await api.result(spec.id)).benchmarks
        assert benchmark.failure is not None
        assert benchmark.failure.kind is FailureKind.CANCELLED


async def test_nothing_to_replay_is_a_problem(settings: RunnerSettings, tmp_path: Path) -> None:
    app = create_app(replace(settings, recordings=tmp_path))
    async with TestServer(app) as server, ClientSession() as session:
        health = await Api(session, str(server.make_url("/v1"))).health()
    assert health.problems == (f"no recordings in {tmp_path}",)


def test_a_broken_recording_is_named(folder: Path) -> None:
    (folder / "capitals-sample-0" / "recording.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadRecording, match=r"capitals-sample-0/recording.json"):
        load_recordings(folder)


async def test_the_packaged_recordings_are_whole() -> None:
    recordings = await asyncio.to_thread(load_recordings, RECORDINGS)
    assert recordings
    for recording in recordings:
        names = {path.name for path in recording.folder.iterdir()}
        assert names >= {"profile.ncu-rep.xz", "ncu-details.csv", "ncu-details.txt", "stdout.txt"}
        assert recording.about.gpu == "NVIDIA H200"
