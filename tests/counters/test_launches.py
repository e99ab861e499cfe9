"""What is kept of an export of any length: launches in slots, the hottest kernels first."""

import os
import threading
import tracemalloc
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters import launches
from counters.columns import DURATION, OCCUPANCY, SM, Coverage
from counters.facts import L2_HITS
from counters.launches import LeftOut, Summary, summarize
from counters.model import Metric
from counters.parse import parse_lines, read_report, read_summary
from tests.counters.make import document, launch, lines, rule, summary, with_value

STALL = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"


def timed(kernel_id: int, name: str, time: str, **shape: str) -> list[list[str]]:
    return launch(kernel_id, name, with_value("Duration", time, "us"), **shape)


def test_launches_of_a_kernel_stand_in_slots() -> None:
    l2 = ("Memory Workload Analysis", "L2 Hit Rate", "%", "50")
    rows = [
        *timed(4, "k", "3"),
        *timed(5, "other", "1"),
        *launch(6, "k", [*with_value("Duration", "n/a"), l2]),
        *timed(7, "k", "1", grid="(9, 1, 1)"),
    ]
    found = summary(*rows)
    first, second = found.kernels
    assert (first.name, list(first.ids), second.name, list(second.ids)) == (
        "k", [4, 6, 7], "other", [5],
    )  # fmt: skip
    assert list(first.values[DURATION.key]) == [3000.0, inf, 1000.0]
    assert list(first.values[L2_HITS.key]) == [inf, 50.0, inf]
    assert (first.value(DURATION), first.value(L2_HITS), first.times) == (
        2000.0, 50.0, [3000.0, 1000.0],
    )  # fmt: skip
    assert found.coverage == Coverage(4, (1, 0, 0, 0, 0, 0), 1, 5000.0)
    assert found.chips == ("9.0",)


def test_what_was_printed_first_with_a_number_stands_for_all() -> None:
    rows = [
        *launch(0, "k", with_value("Achieved Occupancy", "n/a")),
        *launch(1, "k", with_value("Achieved Occupancy", "7", "warp")),
        *launch(2, "k", with_value("Achieved Occupancy", "9")),
        *launch(3, "k", with_value("Achieved Occupancy", "8")),
    ]
    (kernel,) = summary(*rows).kernels
    assert kernel.printed[4] == Metric("Occupancy", "Achieved Occupancy", "%", 9.0, "9")
    assert kernel.measured(OCCUPANCY) == [9.0, 8.0]


def test_stalls_and_rules_are_kept_of_the_longest_launch() -> None:
    rows = [
        row
        for number, time in enumerate(("2", "5", "5"))
        for row in (
            *timed(number, "k", time),
            launch(number, "k", [("Warp State", STALL, "inst", time)])[0],
            rule(number, "k", f"R{number}", "OPT", "Do.", "", ""),
        )
    ]
    (kernel,) = summary(*rows).kernels
    assert kernel.longest.id == 1
    assert [metric.value for metric in kernel.longest.stalls] == [5.0]
    assert [found.name for found in kernel.longest.rules] == ["R1"]


def test_launches_of_one_shape() -> None:
    rows = [*timed(0, "k", "3"), *timed(1, "k", "9", grid="(9, 1, 1)"), *timed(2, "k", "5")]
    (kernel,) = summary(*rows).kernels
    parts = kernel.by_shape()
    assert {grid: list(part.ids) for (grid, _), part in parts.items()} == {
        (16, 2, 1): [0, 2],
        (9, 1, 1): [1],
    }
    assert [part.times for part in parts.values()] == [[3000.0, 5000.0], [9000.0]]


def test_of_too_many_kernels_the_hottest_stay_whole_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launches, "MOST_KERNELS", 2)
    times = {"a": "1", "b": "9", "c": "2", "d": "8", "e": "3"}
    rows = [row for at, (name, time) in enumerate(times.items()) for row in timed(at, name, time)]
    again = [row for at, name in enumerate("abf", 5) for row in timed(at, name, "100")]
    found = summary(*rows, *again)
    assert [kernel.name for kernel in found.kernels] == ["b", "d", "f"]
    # What was left out once stays out: a sum of some of its launches would be wrong.
    assert found.left_out == LeftOut(kernels=3, launches=4, total_ns=106_000.0)
    assert list(found.kernels[0].ids) == [1, 6]
    assert (found.launches, found.coverage.total_ns) == (8, 323_000.0)


CELLS = st.tuples(
    st.sampled_from(["0", "1", "2", "x"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["Duration", "Achieved Occupancy", "Registers Per Thread", STALL, "Other"]),
    st.sampled_from(["1", "2.50", "1,024", "n/a", "1.234,5", ""]),
)


@given(st.lists(CELLS, max_size=12))
def test_a_streamed_export_says_the_same_as_a_whole_one(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str, str, str]]
) -> None:
    sections = {"Registers Per Thread": "Launch Statistics", "Achieved Occupancy": "Occupancy"}
    rows = [
        [number, *launch(0, name, [(sections.get(label, label), label, "%", value)])[0][1:]]
        for number, name, label, value in cells
    ]
    path = tmp_path_factory.mktemp("export") / "x.csv"
    path.write_text(document(rows), encoding="utf-8")
    whole = read_report(path)
    assert read_summary(path) == summarize(whole.kernels, whole.unread)


def test_rows_of_a_kernel_that_stand_apart_are_one_launch(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    first, second = launch(0, "a"), launch(1, "b")
    path.write_text(document([*first[:3], *second, *first[3:]]), encoding="utf-8")
    found = read_summary(path)
    assert [list(kernel.ids) for kernel in found.kernels] == [[0], [1]]
    assert found.coverage.missing == ()


def test_an_export_that_can_be_read_only_once(tmp_path: Path) -> None:
    rows = document([*launch(0, "a"), *launch(1, "b"), *launch(0, "a")])
    assert summarized_from_a_pipe(tmp_path, rows).launches == 2


def summarized_from_a_pipe(folder: Path, text: str) -> Summary:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,), kwargs={"encoding": "utf-8"})
    writer.start()
    found = read_summary(pipe)
    writer.join()
    return found


def test_a_long_export_takes_bytes_a_launch(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    many = (row for number in range(10_000) for row in timed(number, f"k{number % 7}", "3")[:2])
    path.write_text(document(many), encoding="utf-8")
    tracemalloc.start()
    found = read_summary(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.launches, len(found.kernels)) == (10_000, 7)
    assert peak < 4_000_000


def test_no_launches_at_all() -> None:
    report = parse_lines(lines(document([])))
    assert summarize(report.kernels) == Summary((), Coverage(0, (0,) * 6, 0, None), ())


def test_an_unwanted_metric_is_not_kept_but_its_doubt_is(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    odd = [("Somewhere", "Odd", "", "1.234,5"), ("Somewhere", "Text", "", "Policy")]
    path.write_text(document(launch(0, "k", odd)), encoding="utf-8")
    found = read_summary(path)
    assert found.unread == ("line 2: Odd: 1.234,5 may be read in two ways",)
    assert found.kernels[0].value(SM) is None
