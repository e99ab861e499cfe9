"""A real capture in the sandbox, then submissions that misbehave on the GPU; never in CI.

About two minutes on an H200, one runner for all. NCUBOT_GPU_SANDBOX_TABLE names a file that gets
one JSON line a case.
"""

import asyncio
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from runner_client.wire import BenchmarkResult, BenchmarkStatus, FailureKind, Mode
from tests.runner.api import Api
from tests.runner.processes import of_jobs
from tests.runner.test_gpu import PROBLEMS, Case, real_runner, spec_of

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]
VECTORADD = Case("vectoradd", "nvidia/vectoradd", "starter.py", (0,), "vector_add")
SETTINGS = {"GRACE_S": "4", "SELF_TEST": "false", "PREPARE_TIMEOUT_S": "1", "REPLAY_FACTOR": "2"}
"""The import beforehand is cut short, since it warms up nothing that these cases need."""
FINE = BenchmarkStatus.SUCCEEDED
LOST = (BenchmarkStatus.FAILED, BenchmarkStatus.PARTIAL)
ENDLESS = "torch.cuda._sleep(1 << 62)\ntorch.cuda.synchronize()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misdeed:
    """What runs before the kernel, in its last call, and what may become of it."""

    name: str
    body: str
    kinds: tuple[FailureKind | None, ...]
    statuses: tuple[BenchmarkStatus, ...]
    mode: Mode = Mode.PROFILE
    timeout_s: float = 60.0
    kernels: int | None = None


MISDEEDS = (
    Misdeed(
        name="all of the GPU's memory",
        body="kept = []\nwhile True: kept.append(torch.empty(1 << 32, dtype=torch.uint8).cuda())",
        kinds=(FailureKind.SUBMISSION_ERROR, FailureKind.MEMORY_LIMIT, FailureKind.PROGRAM_DIED),
        statuses=LOST,
        mode=Mode.TEST,
    ),
    Misdeed(
        name="a kernel that never ends",
        body=ENDLESS,
        kinds=(FailureKind.TIME_LIMIT,),
        statuses=LOST,
        timeout_s=12.0,
    ),
    Misdeed(
        name="ignores SIGTERM in a kernel",
        body="signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + ENDLESS,
        kinds=(FailureKind.TIME_LIMIT,),
        statuses=LOST,
        mode=Mode.TEST,
        timeout_s=14.0,
    ),
    Misdeed(
        name="a daemon that holds the GPU",
        body=(
            "code = 'import torch, time; x = torch.zeros(1 << 28).cuda(); time.sleep(600)'\n"
            "subprocess.Popen([sys.executable, '-c', code], start_new_session=True)\n"
            "time.sleep(6)"
        ),
        kinds=(None,),
        statuses=(FINE,),
        mode=Mode.TEST,
    ),
    Misdeed(
        name="another profiler",
        body=(
            "from torch.profiler import ProfilerActivity, profile\n"
            "with profile(activities=[ProfilerActivity.CUDA]): torch.ones(64).cuda().sum().item()"
        ),
        kinds=(None, FailureKind.OTHER_PROFILER, FailureKind.COUNTERS_BUSY),
        statuses=(FINE, *LOST),
    ),
    Misdeed(
        name="500 launches",
        body="x = torch.ones(64).cuda()\nfor _ in range(500): x.add_(1)",
        kinds=(None,),
        statuses=(FINE,),
        kernels=10,
    ),
)


def source_of(misdeed: Misdeed) -> str:
    """Return the sample with a misdeed in the call that is measured, not in the warm-up."""
    directory = PROBLEMS / VECTORADD.directory / "submissions"
    sample = (directory / VECTORADD.submission).read_text(encoding="utf-8")
    body = "\n".join("        " + line for line in misdeed.body.splitlines())
    first = 1 if misdeed.mode is Mode.PROFILE else 0
    return (
        f"{sample}\nimport os, signal, subprocess, sys, time\n"
        "_inner, _calls = custom_kernel, []\n"
        "def custom_kernel(data):\n"
        f"    if len(_calls) >= {first}:\n{body}\n"
        "    _calls.append(1)\n"
        "    return _inner(data)\n"
    )


async def profile(api: Api, misdeed: Misdeed | None = None) -> BenchmarkResult:
    """Run the sample, or what was made of it, on the first shape."""
    gpu = (await api.health()).gpu
    mode = misdeed.mode if misdeed else Mode.PROFILE
    spec = await asyncio.to_thread(spec_of, VECTORADD, gpu, mode)
    spec = replace(spec, benchmarks=spec.benchmarks[:1])
    if misdeed is not None:
        source = await asyncio.to_thread(source_of, misdeed)
        digest = hashlib.sha256(source.encode()).hexdigest()
        submission = replace(spec.submission, content=source)
        spec = replace(spec, submission=submission, submission_sha256=digest)
        spec = replace(spec, timeout_s=misdeed.timeout_s)
    result = await api.run(spec)
    assert result.failure is None, result.failure
    return result.benchmarks[0]


def note(name: str, result: BenchmarkResult) -> None:
    """Add a line to the table that NCUBOT_GPU_SANDBOX_TABLE names."""
    row = {
        "name": name,
        "status": result.status.value,
        "kind": result.failure.kind.value if result.failure else None,
        "detail": result.failure.detail if result.failure else "",
        "kernels": result.kernels,
        "seconds": round(result.duration_s, 1),
    }
    target = os.environ.get("NCUBOT_GPU_SANDBOX_TABLE")
    if target:
        with Path(target).open("a", encoding="utf-8") as table:
            table.write(json.dumps(row) + "\n")


def fault(misdeed: Misdeed, result: BenchmarkResult) -> str:
    """Return what is not as it must be, or nothing."""
    kind = result.failure.kind if result.failure else None
    right = kind in misdeed.kinds and result.status in misdeed.statuses
    if right and misdeed.kernels in {None, result.kernels}:
        return ""
    return f"{misdeed.name}: {result.status} {result.failure} {result.output_tail[-1500:]}"


async def test_the_sandbox_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"NCUBOT_RUNNER_{name}", value)
    faults = []
    async with real_runner(tmp_path / "data") as api:
        limits = (await api.health()).system.limits
        assert limits is not None
        assert limits.sandbox == "bubblewrap"
        captured = await profile(api)
        await asyncio.to_thread(note, f"a capture ({limits.enforced_by})", captured)
        assert captured.status is FINE, captured
        assert not captured.degraded
        for misdeed in MISDEEDS:
            result = await profile(api, misdeed)
            await asyncio.to_thread(note, misdeed.name, result)
            faults.append(fault(misdeed, result))
            assert await asyncio.to_thread(of_jobs, tmp_path / "data/work") == [], misdeed.name
    assert not [one for one in faults if one]
