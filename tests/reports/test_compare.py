"""Two captures side by side. Expected differences were worked out by hand."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.compare import About, Comparison, Side, Verdict, compare
from bot.reports.compare_files import about_beside, read_side
from bot.reports.compare_text import comparison_json, comparison_markdown, render_comparison
from counters.model import Metric
from counters.names import display_width
from counters.raw import RawKernel
from tests.counters.make import TABLE_METRICS, document, launch, summary, with_value


def side(name: str, *rows: list[str], about: About | None = None, **cycles: float) -> Side:
    metrics = {
        full: Metric("", full, "inst", value, "")
        for reason, value in cycles.items()
        for full in [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"]
    }
    raw = (RawKernel(0, "k", metrics),) if metrics else ()
    return Side(name, summary(*rows), raw, about or About())


def timed(kernel_id: int, name: str, time: str, **shape: str) -> list[list[str]]:
    return launch(kernel_id, name, with_value("Duration", time, "us"), **shape)


def both(a: list[list[str]], b: list[list[str]]) -> Comparison:
    return compare(side("a.csv", *a), side("b.csv", *b))


def judged(comparison: Comparison, at: int = 0) -> dict[str, tuple[float | None, Verdict]]:
    return {one.what: (one.change, one.verdict) for one in comparison.pairs[at].differences}


def test_gains_and_losses_of_every_figure() -> None:
    before = ["21.06", "50.0", "40.0", "10.0", "50.0", "64"]
    after = ["10.53", "60.0", "20.0", "10.0", "60.0", "80"]
    exports = [
        launch(
            0,
            "k",
            [(*metric[:3], value) for metric, value in zip(TABLE_METRICS, values, strict=True)],
        )
        for values in (before, after)
    ]
    assert judged(both(*exports)) == {
        "duration": (-0.5, Verdict.GAIN),
        "SM throughput": (0.2, Verdict.GAIN),
        "memory throughput": (-0.5, Verdict.LOSS),
        "DRAM throughput": (0.0, Verdict.SAME),
        "occupancy": (0.2, Verdict.GAIN),
        "registers/thread": (0.25, Verdict.LOSS),
    }


@pytest.mark.parametrize(
    ("a", "b", "change", "verdict"),
    [
        ("100", "100.9", 0.009, Verdict.SAME),
        ("100", "101", 0.01, Verdict.LOSS),
        ("100", "n/a", None, Verdict.UNKNOWN),
        ("nan", "5", None, Verdict.UNKNOWN),
        ("0", "5", None, Verdict.LOSS),
        ("0", "0", None, Verdict.SAME),
    ],
)
def test_noise_and_missing_values(a: str, b: str, change: float | None, verdict: Verdict) -> None:
    found, said = judged(both(timed(0, "k", a), timed(0, "k", b)))["duration"]
    assert said is verdict
    assert found == (None if change is None else pytest.approx(change))


def test_kernels_are_matched_by_name_and_shape_the_hottest_first() -> None:
    a = [*timed(0, "x", "1"), *timed(1, "y", "9"), *timed(2, "z", "5")]
    b = [*timed(0, "y", "8"), *timed(1, "z", "5", grid="(9, 1, 1)"), *timed(2, "x", "2")]
    found = both(a, b)
    assert [pair.a.label for pair in found.pairs] == ["y", "x"]
    assert [group.label for group in found.only_a] == ["z"]
    assert [group.grid for group in found.only_b] == [(9, 1, 1)]
    assert found.warnings == ("1 kernel has another grid, block or variant",)
    assert found.total.a == 15_000.0


def test_repeated_launches_are_compared_by_their_median() -> None:
    a = [row for index, time in enumerate("249") for row in timed(index, "k", time)]
    (pair,) = both(a, timed(0, "k", "2")).pairs
    assert (pair.differences[0].a, pair.differences[0].b) == (4000.0, 2000.0)


def test_variants_of_one_name_are_matched_in_their_order() -> None:
    def two(first: str, second: str) -> list[list[str]]:
        regs = [with_value("Registers Per Thread", value) for value in (first, second)]
        return [*launch(0, "k", regs[0]), *launch(1, "k", regs[1])]

    found = both(two("40", "32"), two("48", "32"))
    assert [pair.differences[5].change for pair in found.pairs] == [0.2, 0.0]
    assert {pair.a.label for pair in found.pairs} == {"k (40 regs)", "k (32 regs)"}


def test_stalls_are_compared_where_both_raw_pages_are_there() -> None:
    a = side("a", *launch(0, "k"), long_scoreboard=6.0, wait=1.0)
    b = side("b", *launch(0, "k"), long_scoreboard=3.0, barrier=2.0)
    stalls = {one.what: one for one in compare(a, b).pairs[0].differences[6:]}
    assert {what: (one.a, one.b, one.verdict) for what, one in stalls.items()} == {
        "stall long scoreboard": (6.0, 3.0, Verdict.GAIN),
        "stall barrier": (0.0, 2.0, Verdict.LOSS),
        "stall wait": (1.0, 0.0, Verdict.GAIN),
    }
    assert len(compare(a, side("b", *launch(0, "k"))).pairs[0].differences) == 6


def test_what_makes_a_comparison_doubtful_is_said() -> None:
    capture = (("replay_mode", "kernel"), ("section_set", "full"))
    one = About("H200", "2025.3.1", "size: 1024", capture)
    other = About("B200", "2025.2.0", "size: 2048", (("replay_mode", "range"), *capture[1:]))
    rows = launch(0, "k")
    newer = [[*row[:10], "10.0", *row[11:]] for row in rows]
    assert newer[0][9:11] == ["0", "10.0"]
    found = compare(side("a", *rows, about=one), side("b", *newer, about=other))
    assert found.warnings == (
        "GPU differs: H200 and B200",
        "ncu version differs: 2025.3.1 and 2025.2.0",
        "benchmark shape differs: size: 1024 and size: 2048",
        "capture differs: replay_mode kernel and range",
        "compute capability differs: 9.0 and 10.0",
    )


def test_what_only_one_manifest_says_is_no_difference() -> None:
    found = compare(side("a", *launch(), about=About("H200")), side("b", *launch()))
    assert found.warnings == ()


def test_the_text() -> None:
    a = [*timed(0, "k", "4"), *timed(1, "gone", "1")]
    b = [*timed(0, "k", "2"), *timed(1, "k", "3"), *timed(2, "new", "1")]
    text = render_comparison(both(a, b))
    assert text.splitlines() == [
        "A  a.csv",
        "B  b.csv",
        "                               A          B  A to B",
        "captured time            5.00 µs    6.00 µs  +20.0% - loss",
        "────────────────────────────────────────────────────────────",
        "k                                            16,2,1 × 32,8,1",
        "launches 1 and 2, medians",
        "duration                 4.00 µs    2.50 µs  -37.5% + gain",
        "SM throughput %             5.41       5.41           same",
        "memory throughput %         2.88       2.88           same",
        "DRAM throughput %           0.09       0.09           same",
        "occupancy %                24.95      24.95           same",
        "registers/thread              40         40           same",
        "────────────────────────────────────────────────────────────",
        "only in A: gone, 16,2,1 × 32,8,1",
        "only in B: new, 16,2,1 × 32,8,1",
        "────────────────────────────────────────────────────────────",
        "Durations under the profiler, GPU clocks left as they were;",
        "compare latency with the benchmark, not here.",
    ]


def test_a_change_of_bound_is_said() -> None:
    busy = launch(0, "k", with_value("Memory Throughput", "90"))
    assert "bound by latency, then by memory\n" in render_comparison(both(launch(0, "k"), busy))


def test_the_coldest_kernels_give_way_to_a_count() -> None:
    rows = [row for index in range(60) for row in launch(index, f"k{index}")]
    text = render_comparison(both(rows, rows), max_chars=1_900)
    assert len(text.encode("utf-16-le")) // 2 <= 1_900
    shown = text.count(" × 32,8,1")
    assert f"… and {60 - shown} more kernels\n" in text


def test_many_warnings_and_unmatched_kernels_are_counted() -> None:
    options = [tuple((f"o{n}", value) for n in range(9)) for value in ("1", "2")]
    rows = [[row for n in range(7) for row in launch(n, f"{side}{n}")] for side in "ab"]
    a, b = (
        side(name, *launches, about=About(capture=capture))
        for name, launches, capture in zip("ab", rows, options, strict=True)
    )
    text = render_comparison(compare(a, b))
    assert text.count("warning: capture differs: o") == 5
    assert "warning: 4 more differences\n" in text
    assert "only in A: 3 more\n" in text
    assert text.count("only in B: b") == 4


def test_markdown_is_a_row_a_figure() -> None:
    text = comparison_markdown(both(timed(0, "a_b", "4"), timed(0, "a_b", "2")))
    assert r"| a\_b | duration | 4.00 µs | 2.00 µs | -50.0% | gain |" in text
    assert "| all | captured time | 4.00 µs | 2.00 µs | -50.0% | gain |" in text


def test_json_for_scripts() -> None:
    decoded = json.loads(comparison_json(both(timed(0, "k", "4"), timed(0, "k", "2"))))
    assert list(decoded) == ["a", "b", "total", "warnings", "kernels", "only_a", "only_b"]
    (kernel,) = decoded["kernels"]
    assert (kernel["name"], kernel["grid"], kernel["block"]) == ("k", [16, 2, 1], [32, 8, 1])
    assert kernel["differences"][0] == {
        "what": "duration", "unit": "ns", "a": 4000.0, "b": 2000.0, "change": -0.5,
        "verdict": "gain",
    }  # fmt: skip


MANIFEST = {
    "gpu": "H200",
    "ncu_version": "2025.3.1",
    "system": {"gpu": "NVIDIA H200", "driver": "580"},
    "benchmark_specs": {"0": "size: 1024", "3": "size: 2048"},
    "capture_options": {"section_set": "full", "launch_count": 10, "kernel_name": None},
    "benchmarks": [],
}
CAPTURE = (("kernel_name", "None"), ("launch_count", "10"), ("section_set", "full"))


@pytest.mark.parametrize(
    ("name", "shape"),
    [("ncu-details.0.csv", "size: 1024"), ("ncu-details.3.csv", "size: 2048"), ("x.csv", None)],
)
def test_the_manifest_beside_a_csv_is_read(tmp_path: Path, name: str, shape: str | None) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    assert about_beside(tmp_path / name) == About("NVIDIA H200", "2025.3.1", shape, CAPTURE)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"gpu": 3}', b"\xff", b" " * 2_000_000])
def test_a_manifest_that_says_nothing_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    assert about_beside(tmp_path / "ncu-details.csv") == About()


RAW = (
    '"ID","Kernel Name","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"\n'
    '"","","inst"\n"0","k","2.5"\n'
)


@pytest.mark.parametrize(
    ("details", "raw"),
    [("ncu-details.csv", "ncu-raw.csv"), ("ncu-details.12.csv", "ncu-raw.12.csv")],
)
def test_the_raw_page_beside_a_csv_is_read(tmp_path: Path, details: str, raw: str) -> None:
    (tmp_path / details).write_text(document(launch(0, "k")), encoding="utf-8")
    assert read_side(tmp_path / details).raw == ()
    (tmp_path / raw).write_text(RAW, encoding="utf-8")
    (launched,) = read_side(tmp_path / details).raw
    assert [metric.value for metric in launched.metrics.values()] == [2.5]
    (tmp_path / raw).write_text("broken", encoding="utf-8")
    assert read_side(tmp_path / details).raw == ()


def test_two_real_runs(recordings: Path) -> None:
    paths = [recordings / f"ok-triton-{size}" / "ncu-details.csv" for size in (1024, 2048)]
    found = compare(*(read_side(path) for path in paths))
    assert (found.total.a, found.total.b, found.total.verdict) == (5340.0, 12_860.0, Verdict.LOSS)
    assert found.warnings == ("1 kernel has another grid, block or variant",)
    same = compare(*(read_side(paths[0]) for _ in range(2)))
    assert {one.verdict for one in same.pairs[0].differences} == {Verdict.SAME}
    assert [one.what for one in same.pairs[0].differences][6] == "stall long scoreboard"


TEXT = st.text(max_size=40)


@given(TEXT, TEXT, TEXT, st.integers(60, 100), st.none() | st.integers(500, 900))
def test_no_text_breaks_the_lines(
    name: str, shape: str, path: str, width: int, max_chars: int | None
) -> None:
    about = About(shape, shape, "x")
    a = side(path, *launch(0, name), about=about)
    b = side(path, *launch(0, name, grid=shape), *launch(1, "k", [("S", name, path, shape)]))
    text = render_comparison(compare(a, b), width, max_chars)
    assert all(display_width(line) <= width and line.isprintable() for line in text.split("\n"))
    assert max_chars is None or len(text.encode("utf-16-le")) // 2 <= max_chars
    assert comparison_markdown(compare(a, b))
    assert json.loads(comparison_json(compare(a, b)))["a"] == path


OTHER = "so other launches were measured"


@pytest.mark.parametrize(
    ("a", "b", "warnings"),
    [
        (
            About(mode="hot"),
            About(mode="first", fallback="no gcc"),
            (
                f"capture mode differs: hot and first, {OTHER}",
                "B was to be hot and is first: no gcc",
            ),
        ),
        (
            About(mode="range"),
            About(mode="hot"),
            (f"capture mode differs: range and hot, {OTHER}",),
        ),
        (
            About(mode="hot", place=2),
            About(mode="hot", place=1_000),
            ("launch 2 of each kernel was captured in A, 1,000 in B",),
        ),
        (
            About(mode="first", fallback="no gcc"),
            About(mode="first"),
            ("A was to be hot and is first: no gcc",),
        ),
        (About(mode="first", fallback="no gcc"), About(mode="first", fallback="no gcc"), ()),
        (About(mode="hot"), About(), ()),
    ],
)
def test_other_launches_are_warned_of(a: About, b: About, warnings: tuple[str, ...]) -> None:
    rows = launch(0, "k", TABLE_METRICS)
    found = compare(side("a.csv", *rows, about=a), side("b.csv", *rows, about=b)).warnings
    assert found == warnings


def test_the_mode_that_was_used_is_read_from_the_manifest(tmp_path: Path) -> None:
    entry = {"index": 3, "coverage": {"mode": "first", "fallback": "no gcc", "share": 0.5}}
    hot = {"index": 0, "coverage": {"mode": "hot", "place": {"nth": 7, "fewest": 9, "most": 9}}}
    manifest = {"capture_options": {"mode": "hot"}, "benchmarks": [hot, entry]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    about = about_beside(tmp_path / "ncu-details.3.csv")
    assert (about.mode, about.fallback, about.place) == ("first", "no gcc", 0)
    about = about_beside(tmp_path / "ncu-details.0.csv")
    assert (about.mode, about.fallback, about.place) == ("hot", "", 7)
    # Which of two benchmarks it is cannot be told: what was asked for is all that is known.
    assert about_beside(tmp_path / "ncu-details.csv").mode == "hot"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"benchmarks": [entry]}))
    assert about_beside(tmp_path / "ncu-details.csv").mode == "first"
