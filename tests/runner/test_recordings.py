"""Every recorded kind of run through the real service: what the user is told, what files come."""

import pytest

from runner_client.captures import CaptureOptions
from runner_client.wire import BenchmarkStatus, FailureKind
from tests.runner.api import Api
from tests.standin.problem import job, replaying

CAPTURED = {
    "ok-geqrf-four-kernels": 4,
    "ok-hot-four-kernels": 4,
    "ok-kernel-id-third": 4,
    "ok-native-cuda": 1,
    "ok-nvrtc-three-kernels": 3,
    "ok-triton-1024": 1,
    "ok-triton-2048": 1,
}
FAILED = {
    "fail-mode-not-implemented": (FailureKind.PROFILE_MODE_MISSING, ""),
    "fail-no-range": (FailureKind.NOTHING_IN_RANGE, ""),
    "fail-other-thread": (FailureKind.NOTHING_IN_RANGE, ""),
    "fail-output-not-writable": (FailureKind.PROFILER_ERROR, "Unable to write to file"),
    "fail-submission-raises": (
        FailureKind.SUBMISSION_ERROR,
        "RuntimeError: boom (submission.py:1)",
    ),
    "fail-torch-profiler-only": (
        FailureKind.OTHER_PROFILER,
        "CUPTI had more than one subscriber",
    ),
}


@pytest.mark.parametrize("name", CAPTURED)
async def test_a_capture_with_counters_succeeds(api: Api, name: str) -> None:
    result = await api.run_one(job(replaying(name)))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.failure is None
    assert result.kernels == CAPTURED[name]
    assert not result.degraded
    assert {file.name for file in result.artifacts} >= {
        "profile.0-size-1024-seed-31232.ncu-rep",
        "ncu-details.0.csv",
        "ncu-details.0.txt",
    }


@pytest.mark.parametrize("name", FAILED)
async def test_a_run_without_counters_fails_by_its_cause(api: Api, name: str) -> None:
    kind, detail = FAILED[name]
    result = await api.run_one(job(replaying(name)))
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is kind
    assert detail in result.failure.detail
    assert result.artifacts == ()


async def test_a_filter_that_matches_nothing_names_the_kernels_there_are(api: Api) -> None:
    capture = CaptureOptions(kernel_name="regex:doesnotexist")
    result = await api.run_one(job(replaying("fail-kernel-filter-matches-none"), capture=capture))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.FILTER_MATCHED_NONE
    names = "elementwise_kernel, elementwise_kernel_with_index, geqr2_batch_kernel_shmem"
    assert result.failure.detail == names


async def test_a_wrong_answer_is_delivered_with_its_report(api: Api) -> None:
    result = await api.run_one(job(replaying("wrong-answer-with-report")))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.check is not None
    assert not result.check.passed
    assert result.check.message.startswith("R - Q.T @ A is too large")
    assert len(result.artifacts) == 4


async def test_a_run_stopped_at_its_limit_is_partial(api: Api) -> None:
    result = await api.run_one(job(replaying("partial-hang-terminated"), timeout_s=0.1))
    assert result.status is BenchmarkStatus.PARTIAL
    assert result.failure is not None
    assert result.failure.kind is FailureKind.TIME_LIMIT
    assert result.failure.detail == "1 s, last kernel vectorized_elementwise_kernel"
    assert result.kernels > 0
    assert result.check is None
