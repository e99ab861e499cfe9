"""Spellings of GPUs."""

import pytest

from bot.leaderboards.gpus import GpuNames, each_once

LISTED = ("H200", "H100 NVL", "H100", "B200_Nebius", "A100", "MI300", "MI300x8", "NVIDIA")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("H200", "H200"),
        (" h200 ", "H200"),
        ("NVIDIA H200", "H200"),
        ("H200 SXM", "H200"),
        ("h200-sxm5-141gb", "H200"),
        ("NVIDIA H200 141GB HBM3e", "H200"),
        ("H100 PCIe", "H100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("h100nvl", "H100 NVL"),
        ("A100-SXM4-80GB", "A100"),
        ("A100-PCIE-40GB", "A100"),
        ("AMD Instinct MI300", "MI300"),
        ("mi300X8", "MI300x8"),
        ("b200 nebius", "B200_Nebius"),
        ("nvidia", "NVIDIA"),
        ("B200", None),
        ("GH200", None),
        ("T4", None),
        ("", None),
        ("---", None),
    ],
)
def test_a_listed_gpu_is_found_by_any_spelling(typed: str, found: str | None) -> None:
    assert GpuNames().find(typed, LISTED) == found


def test_the_very_spelling_counts_where_two_are_alike() -> None:
    listed = ("H100", "H100 PCIe")
    names = GpuNames()
    assert names.find("h100 pcie", listed) == "H100 PCIe"
    assert names.find("H100", listed) == "H100"
    assert names.find("NVIDIA H100", listed) is None


def test_an_operator_adds_spellings() -> None:
    names = GpuNames({"hopper-plus": "H200", "B200_Nebius": "B200"})
    assert names.find("Hopper Plus", LISTED) == "H200"
    assert names.both(LISTED, ("b200",)) == ("B200_Nebius",)


def test_each_once_keeps_the_first_spelling() -> None:
    assert each_once(("H200", "B200", "h200")) == ("H200", "B200")
