"""Hand-made exports in the form of ncu 2025.3."""

import csv
import io
from collections.abc import Iterable, Sequence

from counters.launches import Summary, summarize
from counters.parse import parse_lines

HEADER = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC", "Section Name", "Metric Name", "Metric Unit",
    "Metric Value", "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type",
    "Estimated Speedup",
)  # fmt: skip

SPEED_OF_LIGHT = "GPU Speed Of Light Throughput"
TABLE_METRICS = (
    (SPEED_OF_LIGHT, "Duration", "us", "21.06"),
    (SPEED_OF_LIGHT, "Compute (SM) Throughput", "%", "5.41"),
    (SPEED_OF_LIGHT, "Memory Throughput", "%", "2.88"),
    (SPEED_OF_LIGHT, "DRAM Throughput", "%", "0.09"),
    ("Occupancy", "Achieved Occupancy", "%", "24.95"),
    ("Launch Statistics", "Registers Per Thread", "register/thread", "40"),
)
RAW_NAMES = {
    "Duration": "gpu__time_duration.sum",
    "Compute (SM) Throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "Memory Throughput": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM Throughput": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "Achieved Occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Registers Per Thread": "launch__registers_per_thread",
}

MetricCells = tuple[str, str, str, str]


def launch(
    kernel_id: int = 0,
    name: str = "add_kernel",
    metrics: Iterable[MetricCells] = TABLE_METRICS,
    *,
    grid: str = "(16, 2, 1)",
    block: str = "(32, 8, 1)",
) -> list[list[str]]:
    """One row a metric (section, name, unit, value); they end before the rule columns, as ncu's."""
    start = [str(kernel_id), "7", "python3.12", "127.0.0.1", name, "1", "7", block, grid]
    return [[*start, "0", "9.0", *metric, ""] for metric in metrics]


def rule(kernel_id: int = 0, name: str = "add_kernel", *cells: str) -> list[str]:
    """A rule's row: its metric columns are empty."""
    start = launch(kernel_id, name, [("SpeedOfLight", "", "", "")])[0][:-1]
    return [*start, *cells]


def document(
    rows: Iterable[Sequence[str]], header: Sequence[str] = HEADER, *, end: str = "\n"
) -> str:
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end)
    writer.writerows([header, *rows])
    return file.getvalue()


def lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


def summary(*rows: Sequence[str]) -> Summary:
    """Return the summary of an export of these rows."""
    report = parse_lines(lines(document(rows)))
    return summarize(report.kernels, report.unread)


def with_value(label: str, value: str, unit: str | None = None) -> list[MetricCells]:
    """The table's metrics, one of them with another value (and unit)."""
    return [
        (section, name, unit if unit is not None and name == label else old_unit,
         value if name == label else old)
        for section, name, old_unit, old in TABLE_METRICS
    ]  # fmt: skip
