"""The GPU of a report against the GPU that was asked for."""

from pathlib import Path

import pytest

from runner.capture.device import device_name, wrong_gpu
from runner_client.wire import BenchmarkStatus, FailureKind
from tests.runner.api import Api
from tests.standin.problem import job, replaying

NAMES = '"ID","Kernel Name","device__attribute_display_name"\n'


def test_a_recorded_raw_page_names_its_device(recordings: Path) -> None:
    assert device_name(recordings / "ok-triton-1024" / "ncu-raw.csv") == "NVIDIA H200"


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("==WARNING== something\n" + NAMES + '"","",""\n"0","add","NVIDIA B200"\n', "NVIDIA B200"),
        (NAMES + '"","",""\n', ""),
        (NAMES + '"","",""\n"0"\n', ""),
        ('"ID","Kernel Name"\n"",""\n"0","add"\n', ""),
        ("", ""),
    ],
)
def test_raw_pages_of_every_kind(tmp_path: Path, text: str, device: str) -> None:
    path = tmp_path / "ncu-raw.0.csv"
    path.write_text(text, encoding="utf-8")
    assert device_name(path) == device
    assert device_name(None) == ""


@pytest.mark.parametrize(
    ("asked", "device"),
    [
        ("H200", "NVIDIA H200"),
        ("h200", "NVIDIA H200"),
        ("B200_Nebius", "NVIDIA B200"),
        ("A100", "NVIDIA A100-SXM4-80GB"),
        ("RTX4090", "NVIDIA GeForce RTX 4090"),
        ("NVIDIA", "NVIDIA B200"),
        ("H200", ""),
    ],
)
def test_names_that_agree_or_say_nothing(asked: str, device: str) -> None:
    assert wrong_gpu(asked, device) is None


def test_another_gpu_is_named() -> None:
    failure = wrong_gpu("H100", "NVIDIA H200")
    assert failure is not None
    assert failure.kind is FailureKind.WRONG_GPU
    assert failure.detail == "NVIDIA H200, asked for H100"


@pytest.mark.parametrize("gpu", ["H100"])
async def test_a_report_of_another_gpu_is_a_failure_and_still_delivered(
    api: Api, gpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.capture.outcome.device_name", lambda _: f"NVIDIA {gpu} 80GB HBM3")
    result = await api.run_one(job(replaying("ok-triton-1024")))
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is FailureKind.WRONG_GPU
    assert result.artifacts
