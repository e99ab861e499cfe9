import pytest

from counters.columns import (
    COLUMNS,
    DEGRADED_ABOVE,
    DURATION,
    Coverage,
    Missing,
    accepted,
    cells_of,
    coverage_of,
)
from counters.model import Kernel
from counters.parse import parse_lines
from tests.counters.make import (
    RAW_NAMES,
    SPEED_OF_LIGHT,
    TABLE_METRICS,
    document,
    launch,
    lines,
    with_value,
)


def kernels(*rows: list[str]) -> tuple[Kernel, ...]:
    return parse_lines(lines(document(rows))).kernels


def coverage(*rows: list[str]) -> Coverage:
    return coverage_of(kernels(*rows))


def values(kernel: Kernel) -> list[float | None]:
    return [cell.value if cell else None for cell in cells_of(kernel)]


EXPECTED = [21060.0, 5.41, 2.88, 0.09, 24.95, 40.0]


def test_labels_resolve() -> None:
    assert values(kernels(*launch())[0]) == EXPECTED


def test_metric_names_resolve_in_any_section() -> None:
    raw = [("Command line profiler metrics", RAW_NAMES[n], u, v) for _, n, u, v in TABLE_METRICS]
    assert values(kernels(*launch(metrics=raw))[0]) == EXPECTED


def test_labels_of_older_builds_resolve() -> None:
    old = [
        ("GPU Speed Of Light", "Duration", "usecond", "21.06"),
        ("GPU Speed Of Light", "SM [%]", "%", "5.41"),
        ("GPU Speed Of Light", "Memory [%]", "%", "2.88"),
        *TABLE_METRICS[3:],
    ]
    assert values(kernels(*launch(metrics=old))[0]) == EXPECTED


@pytest.mark.parametrize("first", [True, False])
def test_memory_throughput_of_two_sections_is_never_confused(first: bool) -> None:
    other = ("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "165.88")
    metrics = (other, *TABLE_METRICS) if first else (*TABLE_METRICS, other)
    kernel = kernels(*launch(metrics=metrics))[0]
    assert values(kernel) == EXPECTED
    both = {m.section: (m.value, m.unit) for m in kernel.metrics if m.name == "Memory Throughput"}
    assert both == {
        SPEED_OF_LIGHT: (2.88, "%"),
        "Memory Workload Analysis": (165.88e9, "byte/s"),
    }


def test_a_label_of_the_wrong_section_alone_is_missing() -> None:
    other = [("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "165.88")]
    assert values(kernels(*launch(metrics=other))[0]) == [None] * len(COLUMNS)


def test_the_total_is_of_the_known_time_whatever_unit_was_printed() -> None:
    rows = [
        *launch(0, metrics=with_value("Duration", "500", "us")),
        *launch(1, metrics=with_value("Duration", "1.5", "ms")),
        *launch(2, metrics=with_value("Duration", "n/a")),
    ]
    assert coverage(*rows) == Coverage(3, (1, 0, 0, 0, 0, 0), 1, 2_000_000.0)


def test_no_duration_at_all_has_no_total() -> None:
    assert coverage(*launch(metrics=with_value("Duration", "nan"))).total_ns is None


def test_absurd_durations_make_no_absurd_total() -> None:
    metrics = with_value("Duration", "1e308", "ns")
    assert coverage(*launch(0, metrics=metrics), *launch(1, metrics=metrics)).total_ns is None


def test_a_negative_duration_is_no_part_of_the_time() -> None:
    rows = [
        *launch(0, metrics=with_value("Duration", "-9", "ns")),
        *launch(1, metrics=with_value("Duration", "10", "ns")),
    ]
    found = coverage(*rows)
    assert (found.total_ns, found.untimed) == (10.0, 1)


def test_missing_share_counts_six_counters_and_the_share() -> None:
    assert coverage(*launch()).missing_share == 0.0
    lacking_one = launch(metrics=with_value("DRAM Throughput", "nan"))
    assert coverage(*lacking_one).missing_share == 1 / 7
    assert coverage(*launch(metrics=with_value("Duration", ""))).missing_share == 2 / 7
    only_a_duration = launch(1, metrics=[TABLE_METRICS[0]])
    assert coverage(*launch(), *only_a_duration).missing_share == 5 / 14
    assert coverage().missing_share == 1.0
    assert coverage(*launch(metrics=with_value("Duration", "0"))).missing_share == 1 / 7


@pytest.mark.parametrize(("lacking", "degraded"), [("DRAM Throughput", False), ("Duration", True)])
def test_degraded_is_more_than_a_quarter(lacking: str, degraded: bool) -> None:
    report = parse_lines(lines(document(launch(metrics=with_value(lacking, "nan")))))
    assert report.degraded is degraded
    assert report.degraded is (report.missing_share > DEGRADED_ABOVE)


def test_a_counter_given_twice_is_its_finite_one() -> None:
    twice = [(SPEED_OF_LIGHT, "DRAM Throughput", "%", "n/a"), *TABLE_METRICS]
    assert values(kernels(*launch(metrics=twice))[0]) == EXPECTED


def test_missing_counters_are_named_those_that_most_lack_first() -> None:
    rows = [
        *launch(0, metrics=with_value("Duration", "n/a")),
        *launch(
            1, metrics=[m for m in TABLE_METRICS if m[1] not in {"Duration", "DRAM Throughput"}]
        ),
    ]
    found = coverage(*rows)
    assert found.missing == (Missing("Duration", 2, 2), Missing("DRAM Throughput", 1, 2))
    assert found.missing_words == "Duration, DRAM Throughput (in 1 of 2)"


def test_nothing_is_missing_from_a_whole_capture_or_from_none() -> None:
    assert coverage(*launch()).missing == ()
    assert coverage().missing == ()


def test_a_value_in_a_unit_that_the_column_has_not_is_no_value() -> None:
    (kernel,) = kernels(*launch(metrics=with_value("Duration", "3.5", "fortnight")))
    duration = cells_of(kernel)[0]
    assert duration is not None
    assert accepted(DURATION, duration) is None
