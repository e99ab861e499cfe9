"""Exports of other ncu versions, made by hand; every expected value was worked out by hand."""

from pathlib import Path

import pytest

from counters.columns import cells_of, coverage_of
from counters.model import Kernel, KernelReport, Rule
from counters.parse import iter_kernels, read_report

FIXTURES = Path(__file__).parent / "fixtures"


def read(name: str) -> tuple[KernelReport, Kernel]:
    report = read_report(FIXTURES / name)
    assert report.unread == ()
    (kernel,) = report.kernels
    return report, kernel


def table(report: KernelReport) -> list[float | None]:
    return [cell.value if cell else None for cell in cells_of(report.kernels[0])]


def of(kernel: Kernel, section: str, name: str) -> tuple[float | None, str]:
    (metric,) = [m for m in kernel.metrics if (m.section, m.name) == (section, name)]
    return metric.value, metric.unit


def test_units_and_labels_of_old_with_a_launch_time() -> None:
    report, kernel = read("kernel-time.csv")
    assert table(report) == [3420.0, 12.5, 71.03, 70.1, 88.4, 24.0]
    assert of(kernel, "GPU Speed Of Light", "DRAM Frequency") == (1.21e9, "hz")
    assert of(kernel, "Memory Workload Analysis", "Memory Throughput") == (488.2e9, "byte/s")
    assert (kernel.short_name, kernel.grid, kernel.block) == ("scale", None, None)
    text = (
        'Memory is used more than compute: look at the "Memory Workload Analysis" section,'
        "\nthen at coalescing."
    )
    assert kernel.rules == (Rule("SOLBottleneck", "WRN", text, "", None),)
    assert report.missing_share == 0.0


def test_nvtx_columns_padding_crlf_and_byte_order_mark() -> None:
    report, kernel = read("nvtx-padded-crlf.csv")
    assert table(report) == [1_050_000.0, 64.2, 33.3, None, None, 40.0]
    assert (kernel.grid, kernel.block, kernel.compute_capability) == (
        (64, 2, 1),
        (256, 1, 1),
        "8.0",
    )
    assert kernel.name == "void reduce<float, (char)44>(const float *, float *)"
    cycles = "GPU Speed Of Light Throughput", "Elapsed Cycles"
    assert of(kernel, *cycles) == (1_234_567.0, "cycle")
    assert of(kernel, "Launch Statistics", "Function Cache Configuration") == (None, "")
    assert [(rule.speedup_type, rule.speedup) for rule in kernel.rules] == [("global", 12.5)]
    assert report.missing_share == 2 / 7
    assert report.degraded
    assert coverage_of(report.kernels).missing_words == "DRAM Throughput, Achieved Occupancy"


def test_range_replay_has_no_shape() -> None:
    report, kernel = read("range-replay.csv")
    assert table(report) == [412_500.0, 22.1, 61.9, 61.9, None, None]
    assert (kernel.grid, kernel.block, kernel.device) == (None, None, "0")


def test_base_units_and_metric_names() -> None:
    report, kernel = read("base-names.csv")
    assert table(report) == [10_196_000.0, 81.25, 40.5, 12.75, None, 168.0]
    assert (kernel.id, kernel.compute_capability) == (7, "10.0")
    assert of(kernel, "GPU Speed Of Light Throughput", "dram__cycles_elapsed.avg.per_second") == (
        3_995_313_115.4,
        "hz",
    )


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.csv")), ids=lambda path: path.stem)
def test_streaming_gives_the_same_kernels(path: Path) -> None:
    assert tuple(iter_kernels(path)) == read_report(path).kernels
