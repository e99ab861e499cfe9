"""The kernel picker's values: pages of at most 25 entries, and what each entry shows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.model import BenchmarkOutcome
from bot.reports.neutral import FENCE
from bot.reports.picker import MOST_CHOICES, TABLE, TEXT_LIMIT, picker_of, view_of
from counters.launches import Summary, summarize
from counters.parse import read_summary
from tests.reports.captures import QR
from tests.reports.outcomes import kernel, result

JOB = "0" * 32


def many(count: int) -> Summary:
    """Return a report of `count` kernels, each of another name."""
    kernels = tuple(kernel(number, f"kernel_{number}") for number in range(count))
    return summarize(kernels)


def recorded() -> BenchmarkOutcome:
    files = {"ncu-raw.0.csv": QR / "ncu-raw.csv"}
    report = read_summary(QR / "ncu-details.csv")
    return BenchmarkOutcome(result=result(0), report=report, files=files)


@pytest.mark.parametrize("count", [1, 24, 25, 60, 200])
def test_every_kernel_is_on_one_page_and_no_page_is_too_long(count: int) -> None:
    report, seen, page = many(count), [], 0
    while True:
        values = [choice.value for choice in picker_of(JOB, 0, report, page, 0).choices]
        assert 1 <= len(values) <= MOST_CHOICES
        assert values[0] == TABLE
        seen += [value for value in values if value.startswith("kernel:")]
        if f"page:{page + 1}" not in values:
            break
        page += 1
    assert seen == [f"kernel:{rank}" for rank in range(count)]


def test_under_the_table_there_is_no_way_back_to_it() -> None:
    assert [choice.value for choice in picker_of(JOB, 0, many(2)).choices] == [
        "kernel:0",
        "kernel:1",
    ]


def test_an_entry_says_what_the_kernel_costs_and_what_bounds_it() -> None:
    report = recorded().report
    assert report is not None
    first = picker_of(JOB, 0, report, chosen=0).choices[1]
    assert first.label == "1. householder_panel_kernel (40 regs)"
    assert first.description == "41.6% · 10.53 µs · launch"
    assert first.chosen


def test_a_choice_shows_its_kernel_and_the_way_back() -> None:
    view = view_of(JOB, recorded(), 0, "kernel:2")
    assert view is not None
    assert view.content.startswith("```\napply_reflectors_kernel\n")
    assert "short scoreboard" in view.content
    back = view_of(JOB, recorded(), 0, TABLE)
    assert back is not None
    assert "total captured time" in back.content


def test_without_a_raw_page_the_kernel_is_shown_without_stalls(tmp_path: Path) -> None:
    bare = BenchmarkOutcome(
        result=result(0), report=recorded().report, files={"ncu-raw.0.csv": tmp_path / "gone"}
    )
    view = view_of(JOB, bare, 0, "kernel:0")
    assert view is not None
    assert "speed of light" in view.content


@given(st.text(max_size=20))
def test_a_value_that_was_never_offered_shows_nothing_or_the_table(value: str) -> None:
    shown = BenchmarkOutcome(result=result(0), report=many(3), files={})
    view = view_of(JOB, shown, 0, f"x{value}")
    assert view is None
    assert view_of(JOB, shown, 0, "kernel:99999999999999999999") is None
    beyond = view_of(JOB, shown, 0, "page:99999")
    assert beyond is not None
    assert beyond.picker.page == 0


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=5))
def test_no_name_breaks_an_entry_or_a_page(names: list[str]) -> None:
    kernels = tuple(kernel(number, name) for number, name in enumerate(names))
    report = summarize(kernels)
    shown = BenchmarkOutcome(result=result(0), report=report, files={})
    for choice in picker_of(JOB, 0, report).choices:
        assert 1 <= len(choice.label) <= TEXT_LIMIT
        assert len(choice.description) <= TEXT_LIMIT
    view = view_of(JOB, shown, 0, "kernel:0")
    assert view is not None
    assert len(view.content) <= 2_000
    assert view.content.count(FENCE) == 2
