from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.groups import group
from bot.reports.table import TABLE_WIDTH, duration_text, render_markdown, render_table
from counters import launches
from counters.launches import Summary, summarize
from counters.model import Kernel, Metric
from counters.names import display_width
from counters.parse import read_summary
from tests.counters.make import TABLE_METRICS, launch, summary, with_value


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


FOOT = [
    "Durations under the profiler, GPU clocks",
    "left as they were; compare latency with the",
    "benchmark, not here.",
]


def distinct(count: int, name: str = "k") -> Summary:
    return summary(*(row for index in range(count) for row in launch(index, f"{name}{index}")))


def test_the_hottest_kernel_comes_first() -> None:
    two = summary(
        *launch(0, "void ns::first<int>(int)"),
        *launch(1, "second", with_value("Duration", "1.2", "ms"), grid="(1, 1, 1)"),
    )
    assert render_table(two).splitlines() == [
        "#  kernel",
        "   bound by   grid × block",
        "     time share  SM % mem % DRAM% occ.% regs",
        "────────────────────────────────────────────",
        "1  second",
        "   latency    1,1,1 × 32,8,1",
        "  1.20 ms 98.28  5.41  2.88  0.09 24.95   40",
        "",
        "0  first",
        "   latency    16,2,1 × 32,8,1",
        " 21.06 µs  1.72  5.41  2.88  0.09 24.95   40",
        "────────────────────────────────────────────",
        "total captured time 1.22 ms, 2 kernels",
        *FOOT,
    ]


def test_repeated_launches_are_one_kernel_with_count_and_spread() -> None:
    rows = [
        row
        for index, time in enumerate(["2", "4", "3"])
        for row in launch(index, "k", with_value("Duration", time, "us"))
    ]
    assert render_table(summary(*rows)).splitlines()[4:11] == [
        "0  k",
        "   latency    16,2,1 × 32,8,1",
        "  9.00 µs 100.0  5.41  2.88  0.09 24.95   40",
        "   3 launches, 2.00 µs to 4.00 µs,",
        "   median 3.00 µs",
        "────────────────────────────────────────────",
        "total captured time 9.00 µs, 1 kernel in 3",
    ]
    assert "   3 launches, 2.00 µs to 4.00 µs, median 3.00 µs\n" in render_table(summary(*rows), 60)


def test_launches_without_a_time_are_only_counted() -> None:
    rows = [row for index in (0, 1) for row in launch(index, "k", with_value("Duration", "n/a"))]
    assert render_table(summary(*rows)).splitlines()[7] == "   2 launches"


def test_shapes_that_vary_are_counted() -> None:
    two = summary(*launch(0, "k"), *launch(1, "k", grid="(4, 1, 1)"))
    assert render_table(two).splitlines()[5] == "   latency    2 shapes"


def test_the_table_of_a_real_run(recordings: Path) -> None:
    text = render_table(read_summary(recordings / "ok-hot-four-kernels" / "ncu-details.csv"))
    rows = [line.split() for line in text.splitlines()]
    assert rows[4] == ["0", "syevbj_batch_32x16"]
    assert rows[5] == ["launch", "16,1,1", "×", "32,16,1"]
    assert rows[6] == ["21.06", "µs", "36.42", "5.41", "2.88", "0.09", "24.95", "40"]
    assert text.endswith("\ntotal captured time 57.82 µs, 4 kernels\n" + "\n".join(FOOT))


def test_missing_counters_are_na_and_never_nan() -> None:
    text = render_table(summary(*launch(metrics=with_value("Duration", "nan"), grid="", block="")))
    rows = text.splitlines()
    assert rows[5].split() == ["latency", "n/a"]
    assert rows[6].split() == ["n/a", "n/a", "5.41", "2.88", "0.09", "24.95", "40"]
    assert "nan" not in text
    assert rows[8] == "total captured time n/a, 1 kernel"


def test_a_kernel_without_metrics_has_a_row() -> None:
    text = render_table(summary(*launch(metrics=[("Any", "Thing", "", "1")])))
    assert text.splitlines()[6].split() == ["n/a"] * 7


def test_an_unknown_unit_is_printed_as_it_came() -> None:
    text = render_table(summary(*launch(metrics=with_value("Duration", "3.5", "eons"))))
    assert text.splitlines()[6].split()[:3] == ["3.5", "eons", "n/a"]


def test_an_empty_report_says_so() -> None:
    assert render_table(summary()) == "no kernels were captured"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"), (1, "1 ns"), (980, "980 ns"), (999.996, "1.00 µs"), (1000, "1.00 µs"),
        (5340, "5.34 µs"), (999_990, "999.99 µs"), (999_999, "1.00 ms"), (1_200_000, "1.20 ms"),
        (3.45e9, "3.45 s"), (1234.5e9, "1234.50 s"), (1e300, "1e+291 s"), (-5340, "-5.34 µs"),
    ],
)  # fmt: skip
def test_durations_are_scaled_with_their_unit(nanoseconds: float, text: str) -> None:
    assert duration_text(nanoseconds) == text


def test_names_are_cut_in_the_middle_and_made_safe() -> None:
    hostile = "void evil\x1b2J\u202e\r\n" + "x" * 2000 + "_end"
    text = render_table(summary(*launch(name=hostile)))
    line = text.splitlines()[4]
    assert len(text.splitlines()) == 12
    assert len(line) == TABLE_WIDTH
    assert "…" in line
    assert line.endswith("_end")
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize("name", ["", "\x1b", "\u202e\u202e"])
def test_a_kernel_without_a_name_is_called_so(name: str) -> None:
    assert "(no name)" in render_table(summary(*launch(name=name)))


@pytest.mark.parametrize("count", [60, 1000])
def test_the_coldest_kernels_give_way_to_a_count(count: int) -> None:
    text = render_table(distinct(count), max_chars=1900)
    assert units(text) <= 1900
    shown = text.count(" × 32,8,1")
    assert 9 < shown < 20
    assert text.splitlines()[-6:-3] == [
        f"… and {count - shown} more in ncu-details.csv",
        "─" * TABLE_WIDTH,
        f"total captured time {21.06 * count / 1000:.2f} ms, {count} kernels",
    ]


def test_without_a_limit_all_kernels_are_shown() -> None:
    assert render_table(distinct(30)).count(" × 32,8,1") == 30


@pytest.mark.parametrize("max_chars", range(1000, 1100, 7))
def test_the_limit_is_used_up_and_kept(max_chars: int) -> None:
    whole = render_table(distinct(6), max_chars=1200)
    text = render_table(distinct(20, "漢😀"), max_chars=max_chars)
    assert units(text) <= max_chars
    assert units(text) > max_chars - 140
    assert "more" not in render_table(distinct(6), max_chars=units(whole) + 1)
    assert units(whole) <= 1200


def test_kernels_too_many_to_keep_are_counted_in_the_foot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "MOST_KERNELS", 2)
    text = render_table(distinct(5))
    assert text.splitlines()[-6:-3] == [
        "total captured time 105.30 µs, 5 kernels",
        "Too many to list: 3 more kernels with 3",
        "launches, 63.18 µs.",
    ]
    assert "Too many to list: 3 more kernels" in render_markdown(distinct(5))


def test_too_narrow_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match=str(TABLE_WIDTH - 1)):
        render_table(summary(), width=TABLE_WIDTH - 1)


SHAPES = st.none() | st.tuples(*[st.integers(0, 10**10 - 1)] * 3)
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(max_size=80)
UNITS = st.sampled_from(["ns", "%", "", "zorkmid", "漢字"])


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    metrics = [
        Metric(section, label, draw(UNITS), value, draw(TEXT))
        for section, label, _, _ in TABLE_METRICS
        for value in [draw(VALUES)]
    ]
    name, number = draw(TEXT), draw(st.integers(0, 10**12 - 1))
    grid, block = draw(SHAPES), draw(SHAPES)
    return Kernel(number, name, name, grid, block, "0", "9.0", tuple(metrics), ())


@given(st.lists(kernels(), min_size=1, max_size=4), st.just(44) | st.integers(TABLE_WIDTH, 120))
def test_no_kernel_breaks_the_lines(launches: list[Kernel], width: int) -> None:
    whole = summarize(launches)
    printed = render_table(whole, width).split("\n")
    assert max(map(display_width, printed)) <= width
    assert all(line.isprintable() for line in printed)
    names = [line for line in printed if "×" in line or "n/a" in line or "shapes" in line]
    assert len(names) >= len(group(whole))


def test_markdown_is_one_row_a_kernel_and_escaped() -> None:
    text = render_markdown(summary(*launch(name="void a|b`*_c(int)\n")))
    titles, rule, row, *rest = text.splitlines()
    assert titles.startswith("| # | Kernel | Launches | Bound by | Duration | Share % | SM % |")
    assert titles.endswith("| Achieved occupancy % | Registers/thread | Grid × block |")
    assert rule == "| --: | :-- | --: | :-- |" + " --: |" * 7 + " :-- |"
    assert row.startswith(r"| 0 | a\|b\`\*\_c | 1 | latency | 21.06 µs | 100.0 | 5.41 | 2.88 |")
    assert row.endswith("| 24.95 | 40 | 16,2,1 × 32,8,1 |")
    assert rest == ["", "total captured time 21.06 µs, 1 kernel", "", " ".join(FOOT)]
