"""GPU names that are not NVIDIA's."""

import pytest

from bot.leaderboards.check.gpus import is_nvidia
from bot.leaderboards.check.model import Verdict
from bot.leaderboards.check.task import check_task
from tests.leaderboards.check.tasks import python_task


@pytest.mark.parametrize(
    "gpu",
    ["B200", "B200_Nebius", "NVIDIA", "H100", "H200 SXM", "L4", "T4", "A100", "RTX 4090", "M40"],
)
def test_nvidia(gpu: str) -> None:
    assert is_nvidia(gpu)


@pytest.mark.parametrize(
    "gpu",
    [
        "MI300",
        "mi300x",
        "MI300x8",
        "MI355X",
        "gfx942",
        "AMD Instinct MI250",
        "Radeon",
        "RX 7900",
        "Gaudi 3",
        "Intel PVC",
        "Apple M3",
        "M3 Max",
        "TPU v5e",
        "trn2",
    ],
)
def test_others(gpu: str) -> None:
    assert not is_nvidia(gpu)


def test_one_nvidia_gpu_is_enough() -> None:
    task = python_task("print()")
    assert check_task(task, ("MI300", "B200")).profile is Verdict.UNKNOWN
    result = check_task(task, ("MI300", "MI355X"))
    assert result.profile is Verdict.NOT_NVIDIA
    assert "is for MI300, MI355X" in result.findings[0].message
