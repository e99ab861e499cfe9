"""A limit met by a real capture: what ncu has written until then is kept. About a minute."""

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from runner_client.wire import BenchmarkStatus, FailureKind, Mode, SourceFile
from tests.runner.test_gpu import QR, real_runner, spec_of

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(200),
]
MANY_LAUNCHES = """
def custom_kernel(data):
    for _ in range(500):
        doubled = data * 2
    return doubled, doubled
"""


async def test_a_growing_report_is_ended_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCUBOT_RUNNER_MAX_REPORT_BYTES", "20000000")
    monkeypatch.setenv("NCUBOT_RUNNER_JOB_TIMEOUT_S", "90")
    async with real_runner(tmp_path / "data") as api:
        spec = spec_of(QR, (await api.health()).gpu, Mode.PROFILE, launch_count=400)
        source = SourceFile(name=spec.submission.name, content=MANY_LAUNCHES)
        digest = hashlib.sha256(MANY_LAUNCHES.encode()).hexdigest()
        shapes = spec.benchmarks[:1]
        changed = replace(spec, submission=source, submission_sha256=digest, benchmarks=shapes)
        result = await api.run_one(changed)
    assert result.failure is not None
    assert result.failure.kind is FailureKind.REPORT_LIMIT
    assert "last kernel" in result.failure.detail
    assert result.status is BenchmarkStatus.PARTIAL
    assert 0 < result.kernels < 400
    assert any(file.name.endswith(".ncu-rep") for file in result.artifacts)
