from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.groups import group
from bot.reports.table import MIN_WIDTH, duration_text, render_markdown, render_table
from counters.model import Kernel, KernelReport, Metric
from counters.names import display_width
from counters.parse import parse_lines, read_report
from tests.counters.make import TABLE_METRICS, document, launch, lines, with_value


def report(*rows: list[str]) -> KernelReport:
    return parse_lines(lines(document(rows)))


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


FOOT = [
    "Durations under the profiler, GPU clocks left as they were;",
    "compare latency with the benchmark, not here.",
]


def distinct(count: int, name: str = "k") -> KernelReport:
    return report(*(row for index in range(count) for row in launch(index, f"{name}{index}")))


def test_the_hottest_kernel_comes_first() -> None:
    two = report(
        *launch(0, "void ns::first<int>(int)"),
        *launch(1, "second", with_value("Duration", "1.2", "ms"), grid="(1, 1, 1)"),
    )
    assert render_table(two).splitlines() == [
        "#  kernel                                       grid × block",
        "bound      duration share %   SM %  mem % DRAM % occ. % regs",
        "────────────────────────────────────────────────────────────",
        "1  second                                     1,1,1 × 32,8,1",
        "latency     1.20 ms   98.28   5.41   2.88   0.09  24.95   40",
        "0  first                                     16,2,1 × 32,8,1",
        "latency    21.06 µs    1.72   5.41   2.88   0.09  24.95   40",
        "────────────────────────────────────────────────────────────",
        "total captured time 1.22 ms, 2 kernels",
        *FOOT,
    ]


def test_repeated_launches_are_one_kernel_with_count_and_spread() -> None:
    rows = [
        row
        for index, time in enumerate(["2", "4", "3"])
        for row in launch(index, "k", with_value("Duration", time, "us"))
    ]
    assert render_table(report(*rows)).splitlines()[3:9] == [
        "0  k                                         16,2,1 × 32,8,1",
        "latency     9.00 µs  100.00   5.41   2.88   0.09  24.95   40",
        "           3 launches, 2.00 µs to 4.00 µs, median 3.00 µs",
        "────────────────────────────────────────────────────────────",
        "total captured time 9.00 µs, 1 kernel in 3 launches",
        FOOT[0],
    ]


def test_launches_without_a_time_are_only_counted() -> None:
    rows = [row for index in (0, 1) for row in launch(index, "k", with_value("Duration", "n/a"))]
    assert render_table(report(*rows)).splitlines()[5].strip() == "2 launches"


def test_shapes_that_vary_are_counted() -> None:
    two = report(*launch(0, "k"), *launch(1, "k", grid="(4, 1, 1)"))
    assert render_table(two).splitlines()[3].endswith(" 2 shapes")


def test_the_table_of_a_real_run(recordings: Path) -> None:
    text = render_table(read_report(recordings / "ok-hot-four-kernels" / "ncu-details.csv"))
    rows = [line.split() for line in text.splitlines()]
    assert rows[3] == ["0", "syevbj_batch_32x16", "16,1,1", "×", "32,16,1"]
    assert rows[4] == ["launch", "21.06", "µs", "36.42", "5.41", "2.88", "0.09", "24.95", "40"]
    assert text.endswith("\ntotal captured time 57.82 µs, 4 kernels\n" + "\n".join(FOOT))


def test_missing_counters_are_na_and_never_nan() -> None:
    text = render_table(report(*launch(metrics=with_value("Duration", "nan"), grid="", block="")))
    rows = text.splitlines()
    assert rows[3].endswith(" n/a")
    assert rows[4].split() == ["latency", "n/a", "n/a", "5.41", "2.88", "0.09", "24.95", "40"]
    assert "nan" not in text
    assert rows[6] == "total captured time n/a, 1 kernel"


def test_a_kernel_without_metrics_has_a_row() -> None:
    text = render_table(report(*launch(metrics=[("Any", "Thing", "", "1")])))
    assert text.splitlines()[4].split() == ["unknown", *["n/a"] * 7]


def test_an_unknown_unit_is_printed_as_it_came() -> None:
    text = render_table(report(*launch(metrics=with_value("Duration", "3.5", "eons"))))
    assert text.splitlines()[4].split()[:4] == ["latency", "3.5", "eons", "n/a"]


def test_an_empty_report_says_so() -> None:
    assert render_table(report()) == "no kernels were captured"


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
    text = render_table(report(*launch(name=hostile)))
    line = text.splitlines()[3]
    assert len(text.splitlines()) == 9
    assert len(line) == 60
    assert "…" in line
    assert "_end " in line
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize("name", ["", "\x1b", "\u202e\u202e"])
def test_a_kernel_without_a_name_is_called_so(name: str) -> None:
    assert "(no name)" in render_table(report(*launch(name=name)))


@pytest.mark.parametrize("count", [60, 1000])
def test_the_coldest_kernels_give_way_to_a_count(count: int) -> None:
    text = render_table(distinct(count), max_chars=1900)
    assert units(text) <= 1900
    shown = text.count(" × 32,8,1")
    assert 9 < shown < 20
    assert text.splitlines()[-5:-2] == [
        f"… and {count - shown} more in ncu-details.csv",
        "─" * 60,
        f"total captured time {21.06 * count / 1000:.2f} ms, {count} kernels",
    ]


def test_without_a_limit_all_kernels_are_shown() -> None:
    assert render_table(distinct(30)).count(" × 32,8,1") == 30


@pytest.mark.parametrize("max_chars", range(1000, 1100, 7))
def test_the_limit_is_used_up_and_kept(max_chars: int) -> None:
    whole = render_table(distinct(6), max_chars=1200)
    text = render_table(distinct(20, "漢😀"), max_chars=max_chars)
    assert units(text) <= max_chars
    assert units(text) > max_chars - 125
    assert "more" not in render_table(distinct(6), max_chars=units(whole) + 1)
    assert units(whole) <= 1200


def test_too_narrow_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match=str(MIN_WIDTH - 1)):
        render_table(report(), width=MIN_WIDTH - 1)


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


@given(st.lists(kernels(), min_size=1, max_size=4), st.just(60) | st.integers(MIN_WIDTH, 120))
def test_no_kernel_breaks_the_lines(launches: list[Kernel], width: int) -> None:
    whole = KernelReport(tuple(launches), 0.0, degraded=False)
    printed = render_table(whole, width).split("\n")
    assert max(map(display_width, printed)) <= width
    assert all(line.isprintable() for line in printed)
    names = [line for line in printed if "×" in line or "n/a" in line or "shapes" in line]
    assert len(names) >= len(group(whole))


def test_markdown_is_one_row_a_kernel_and_escaped() -> None:
    text = render_markdown(report(*launch(name="void a|b`*_c(int)\n")))
    titles, rule, row, *rest = text.splitlines()
    assert titles.startswith("| # | Kernel | Launches | Bound by | Duration | Share % | SM % |")
    assert titles.endswith("| Achieved occupancy % | Registers/thread | Grid × block |")
    assert rule == "| --: | :-- | --: | :-- |" + " --: |" * 7 + " :-- |"
    assert row.startswith(r"| 0 | a\|b\`\*\_c | 1 | latency | 21.06 µs | 100.00 | 5.41 | 2.88 |")
    assert row.endswith("| 24.95 | 40 | 16,2,1 × 32,8,1 |")
    assert rest == ["", "total captured time 21.06 µs, 1 kernel", "", " ".join(FOOT)]
