"""Real exports of one H200: the scaled and the base-unit export of a run say the same."""

from pathlib import Path

import pytest

from bot.reports.groups import group
from counters.columns import cells_of
from counters.model import Metric
from counters.parse import read_report, read_summary

WITH_BASE = (
    "ok-hot-four-kernels",
    "ok-nvrtc-three-kernels",
    "ok-triton-1024",
    "ok-triton-2048",
)
ALL = (*WITH_BASE, "ok-geqrf-four-kernels", "ok-native-cuda", "partial-hang-terminated")


def printed_precision(metric: Metric) -> float:
    """Half of the last printed digit, in the base unit."""
    assert metric.value is not None
    digits = metric.text.replace(",", "")
    scale = metric.value / float(digits) if float(digits) else 1.0
    return float(0.5 * 10.0 ** -len(digits.partition(".")[2]) * scale * 1.000001)


def same(scaled: Metric, base: Metric) -> bool:
    if scaled.value is None or base.value is None:
        return (scaled.value, scaled.text) == (base.value, base.text)
    near = abs(scaled.value - base.value) <= printed_precision(scaled)
    return near and (scaled.section, scaled.unit) == (base.section, base.unit)


def test_every_recording_with_a_base_export_is_looked_at(recordings: Path) -> None:
    found = {path.parent.name for path in recordings.glob("*/ncu-details-base.csv")}
    assert found == set(WITH_BASE)
    assert {path.parent.name for path in recordings.glob("*/ncu-details.csv")} == set(ALL)


@pytest.mark.parametrize("folder", WITH_BASE)
def test_scaled_and_base_export_agree(recordings: Path, folder: str) -> None:
    scaled = read_report(recordings / folder / "ncu-details.csv")
    base = read_report(recordings / folder / "ncu-details-base.csv")
    for left, right in zip(scaled.kernels, base.kernels, strict=True):
        pairs = zip(left.metrics, right.metrics, strict=True)
        assert [pair for pair in pairs if not same(*pair)] == []
        assert left.rules == right.rules


@pytest.mark.parametrize("folder", WITH_BASE)
def test_scaled_and_base_export_give_the_same_table(recordings: Path, folder: str) -> None:
    scaled = read_report(recordings / folder / "ncu-details.csv").kernels
    base = read_report(recordings / folder / "ncu-details-base.csv").kernels
    for left, right in zip(map(cells_of, scaled), map(cells_of, base), strict=True):
        assert all(a and b and same(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("folder", ALL)
def test_real_reports_are_read_to_the_last_line(recordings: Path, folder: str) -> None:
    path = recordings / folder / "ncu-details.csv"
    report = read_report(path)
    assert report.unread == ()
    assert (report.missing_share, report.degraded) == (0.0, False)
    assert sum(one.share or 0 for one in group(read_summary(path))) == pytest.approx(1.0)


def test_hot_kernels_by_hand(recordings: Path) -> None:
    report = read_report(recordings / "ok-hot-four-kernels" / "ncu-details.csv")
    assert [kernel.short_name for kernel in report.kernels] == [
        "syevbj_batch_32x16",
        "column_rotate_batch",
        "row_rotate_batch_32x16_phase1",
        "row_rotate_batch_32x32_phase2",
    ]
    first = [cell.value for cell in cells_of(report.kernels[0]) if cell]
    assert first == [21060.0, 5.41, 2.88, 0.09, 24.95, 40.0]
    assert (report.kernels[1].grid, report.kernels[1].block) == ((16, 2, 1), (32, 8, 1))
