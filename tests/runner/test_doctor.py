"""What the doctor says of machines in several states, and what becomes of jobs meanwhile."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from counters.model import Kernel, KernelReport, Metric
from runner.app import create_app, create_engine
from runner.health import checks
from runner.health.doctor import examine, problem_sentences
from runner.health.selfcheck import SelfTest, findings_of
from runner.settings import EngineName, RunnerSettings, SandboxName
from runner_client.wire import (
    BenchmarkResult,
    BenchmarkStatus,
    Failure,
    FailureKind,
    Finding,
    Health,
    JobResult,
    Level,
    Mode,
    System,
)
from tests.runner.api import Api
from tests.runner.machine import Machine, make_machine
from tests.standin.problem import job, replaying

FINE = "ok-triton-1024"
DENIED = "denied"
EVERYTHING = {
    *("gpu", "mig", "ncu", "python", "nvcc", "clocks", "data", "disk", "network"),
    *("sandbox", "limits", "census", "counters", "values"),
}


@pytest.fixture
def machine(tmp_path: Path, settings: RunnerSettings, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Make a machine on which everything works."""
    made = make_machine(tmp_path / "machine", settings)
    monkeypatch.setenv("PATH", f"{made.root / 'bin'}:{os.environ['PATH']}")
    made.self_test(monkeypatch, FINE)
    return made


async def examined(settings: RunnerSettings) -> dict[str, Finding]:
    """Examine and return the findings by their check."""
    engine = await asyncio.to_thread(create_engine, settings)
    findings = await examine(engine, settings, settings.folder / "scratch")
    return {finding.check: finding for finding in findings}


async def test_a_machine_that_works_has_no_problem(machine: Machine) -> None:
    found = await examined(machine.settings)
    assert set(found) == EVERYTHING
    assert [one for one in found.values() if one.level is Level.PROBLEM] == []
    assert found["gpu"].text == "1 x NVIDIA H200, driver 580.159.04"
    assert found["ncu"].text.startswith("Nsight Compute 2025.3.1.0, `")
    assert found["python"].text.startswith("torch 2.11.0 for CUDA 13.0 sees 1 GPU, `")
    assert found["mig"].text == "off, the GPU is whole"
    assert found["counters"].text.startswith("a tiny kernel was profiled in ")
    assert found["values"].text == "87 of 87 counters have values under ncu 2025.3.1.0"
    assert found["clocks"].text == "ncu leaves them as they are (--clock-control none)"
    assert "started by user" in found["sandbox"].text
    left = await asyncio.to_thread(lambda: list((machine.settings.folder / "scratch").iterdir()))
    assert left == []


async def test_every_gpu_is_measured_and_named(machine: Machine) -> None:
    machine.gpu(count=2)
    found = await examined(machine.settings)
    assert found["gpu"].text == "2 x NVIDIA H200, driver 580.159.04"
    for check in ("counters 0", "values 0", "counters 1", "values 1"):
        assert found[check].level is Level.OK
    assert "counters" not in found


async def test_what_is_missing_is_named_with_its_mend(machine: Machine) -> None:
    for name in ("nvidia-smi", "python"):
        (machine.root / "bin" / name).unlink()
    shutil.copy("/bin/false", machine.root / "bin" / "nvidia-smi")
    found = await examined(replace(machine.settings, ncu="no-ncu", nvcc="no-nvcc"))
    assert found["gpu"].text == "nvidia-smi lists no GPU"
    assert (
        found["ncu"].text
        == "`no-ncu` does not run (no-ncu cannot be started: No such file or directory)"
    )
    assert found["ncu"].mend.endswith("name its program in the setting `ncu`")
    assert "cannot import torch (" in found["python"].text
    assert found["nvcc"].level is Level.WARNING
    assert "counters" not in found
    sentences = problem_sentences(tuple(found.values()))
    assert len(sentences) == 3
    assert sentences[1].startswith("`no-ncu` does not run")


async def test_torch_without_a_gpu_and_mig_are_told(machine: Machine) -> None:
    machine.torch(devices=0)
    machine.gpu(mig="Enabled")
    found = await examined(machine.settings)
    assert found["python"].level is Level.PROBLEM
    assert found["python"].text == "torch 2.11.0 for CUDA 13.0 sees no GPU"
    assert found["mig"].level is Level.WARNING
    assert "nvidia-smi -mig 0" in found["mig"].mend


@pytest.mark.parametrize(
    ("recording", "said"),
    [
        (
            "fail-submission-raises",
            "the tiny kernel was not profiled: submission-error (RuntimeError",
        ),
        ("fail-no-range", "the tiny kernel was not profiled: nothing-in-range"),
    ],
)
async def test_a_kernel_that_gives_no_counters_is_a_problem(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, recording: str, said: str
) -> None:
    machine.self_test(monkeypatch, recording)
    found = await examined(machine.settings)
    assert found["counters"].level is Level.PROBLEM
    assert found["counters"].text.startswith(said)
    assert found["counters"].mend


def outcome(failure: Failure | None) -> JobResult:
    status = BenchmarkStatus.FAILED if failure else BenchmarkStatus.SUCCEEDED
    one = BenchmarkResult(index=0, spec="n: 1", status=status, failure=failure, duration_s=9.0)
    system = System(gpu="NVIDIA B200", ncu_version="2026.2")
    return JobResult(failure=None, benchmarks=(one,), system=system, manifest=None)


def report(texts: list[str], *, degraded: bool = False) -> KernelReport:
    def metric(text: str) -> Metric:
        value = float(text) if text.isdecimal() else None
        return Metric("Occupancy", "Achieved Occupancy", "%", value, text)

    metrics = tuple(map(metric, texts))
    kernel = Kernel(0, "k", "k", (1, 1, 1), (1, 1, 1), "0", "10.0", metrics, ())
    return KernelReport((kernel,), 0.9 if degraded else 0.0, degraded)


@pytest.mark.parametrize(
    ("kind", "mend"),
    [
        (FailureKind.COUNTERS_DENIED, "NVreg_RestrictProfilingToAdminUsers=0"),
        (FailureKind.COUNTERS_BUSY, "dcgmi profile --pause"),
        (FailureKind.DRIVER_MISMATCH, "install an ncu that fits the driver"),
        (FailureKind.RUNNER_ERROR, "run `ncu` by hand"),
    ],
)
def test_each_failure_of_the_self_test_has_its_mend(kind: FailureKind, mend: str) -> None:
    (finding,) = findings_of(SelfTest(outcome(Failure(kind=kind, detail="so")), None))
    assert finding.level is Level.PROBLEM
    assert finding.text == f"the tiny kernel was not profiled: {kind.value} (so)"
    assert mend in finding.mend


@pytest.mark.parametrize(
    ("texts", "degraded", "level"),
    [
        (["1"] * 40, False, Level.OK),
        (["1"] * 40 + ["nan"], False, Level.OK),
        (["1"] * 40 + ["PolicySpread"] * 20, False, Level.OK),
        (["1"] * 40 + ["nan", "-nan", "n/a"], False, Level.WARNING),
        (["1"] * 40, True, Level.WARNING),
    ],
)
def test_an_ncu_that_loses_counters_here_is_doubted_by_measurement(
    texts: list[str], degraded: bool, level: Level
) -> None:
    measured = SelfTest(outcome(None), report(texts, degraded=degraded))
    counters, values = findings_of(measured)
    assert counters.level is Level.OK
    assert values.level is level
    assert "under ncu 2026.2" in values.text
    assert ("NVIDIA B200" in values.text) is (level is Level.WARNING)


async def test_disk_data_and_network(machine: Machine, tmp_path: Path) -> None:
    settings = replace(machine.settings, min_free_bytes=10**18, host="192.0.2.1")
    found = await examined(settings)
    assert found["disk"].level is Level.PROBLEM
    assert "must stay free" in found["disk"].mend
    assert found["network"].level is Level.WARNING
    assert "plain http on 192.0.2.1:8750" in found["network"].text
    (tmp_path / "file").write_text("")
    settings = replace(
        machine.settings,
        data=tmp_path / "file" / "data",
        max_job_bytes=10**18,
        tls_cert=tmp_path / "none",
        tls_key=tmp_path / "none",
    )
    found = await examined(settings)
    assert found["data"].level is Level.PROBLEM
    assert "cannot be written" in found["data"].text
    assert found["disk"].level is Level.PROBLEM
    assert found["gpu"].level is Level.OK
    assert found["network"].level is Level.PROBLEM


async def test_a_runner_without_a_sandbox_says_so(machine: Machine) -> None:
    found = await examined(replace(machine.settings, sandbox=SandboxName.NONE))
    assert found["sandbox"].level is Level.WARNING
    assert "because the settings say so" in found["sandbox"].text
    assert found["counters"].level is Level.OK


async def test_a_sandbox_that_starts_nothing_is_a_problem(machine: Machine) -> None:
    broken = machine.root / "bin" / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    found = await examined(replace(machine.settings, bwrap=str(broken)))
    assert found["sandbox"].level is Level.PROBLEM
    assert "No permissions to create new namespace" in found["sandbox"].text
    assert "counters" not in found


async def test_a_replaying_runner_needs_no_gpu(settings: RunnerSettings) -> None:
    found = await examined(replace(settings, engine=EngineName.RECORDED))
    assert set(found) == {"data", "disk", "network", "recordings"}
    assert found["recordings"].text == "captures of NVIDIA H200 are replayed, no GPU is used"


@asynccontextmanager
async def served(settings: RunnerSettings) -> AsyncIterator[Api]:
    async with TestServer(create_app(settings)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


async def until(api: Api, wanted: Callable[[Health], bool]) -> Health:
    """Ask for the runner's health until it is as wanted."""
    health = await api.health()
    while not wanted(health):
        await asyncio.sleep(0.05)
        health = await api.health()
    return health


async def checked(api: Api) -> None:
    await until(api, lambda health: not health.checking)


async def test_jobs_wait_for_the_first_check_and_then_run(machine: Machine) -> None:
    async with served(machine.settings) as api:
        assert (await api.health()).checking
        benchmark = await api.run_one(job(replaying(FINE)))
        assert benchmark.failure is None
        health = await api.health()
        assert not health.checking
        assert health.problems == ()
        assert {one.check for one in health.findings} == EVERYTHING


async def test_a_runner_that_cannot_profile_says_so_and_takes_no_job(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.self_test(monkeypatch, "fail-no-range")
    async with served(machine.settings) as api:
        await checked(api)
        (problem,) = (await api.health()).problems
        assert problem.startswith("the tiny kernel was not profiled: nothing-in-range: ")
        status, error = await api.refusal("POST", "/jobs", msgspec.json.encode(job()))
        assert status == 503
        assert error == f"this runner cannot profile: {problem}"
        assert (await api.run_one(job(mode=Mode.TEST))).failure is None


async def test_it_is_taken_back_once_it_is_mended(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.health.doctor.MENDED_AFTER_S", 0.1)
    machine.self_test(monkeypatch, "fail-no-range")
    async with served(machine.settings) as api:
        await checked(api)
        machine.self_test(monkeypatch, FINE)
        await until(api, lambda health: not health.problems)
        assert (await api.run_one(job(replaying(FINE)))).failure is None


async def test_a_failure_of_the_operator_is_looked_into(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(machine.settings) as api:
        await checked(api)
        machine.self_test(monkeypatch, "fail-no-range")
        result = await api.run_one(job(replaying("fail-output-not-writable")))
        assert result.failure is not None
        assert result.failure.kind is FailureKind.PROFILER_ERROR
        await until(api, lambda health: bool(health.problems))


async def test_a_check_that_breaks_is_a_finding(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("runner.health.doctor.examine", broken)
    async with served(machine.settings) as api:
        await checked(api)
        assert (await api.health()).problems == ("the check broke (RuntimeError): see the log",)


async def test_what_programs_leave_in_their_home_is_gone(
    settings: RunnerSettings, tmp_path: Path
) -> None:
    leaves = tmp_path / "leaves"
    leaves.write_text('#!/bin/sh\nmkdir -p "$HOME/.nv" && echo release 13.0\n', encoding="utf-8")
    leaves.chmod(0o755)
    settings.folder.mkdir()
    found = await checks.nvcc(replace(settings, nvcc=str(leaves)))
    assert found.level is Level.OK
    assert list(settings.folder.iterdir()) == []
