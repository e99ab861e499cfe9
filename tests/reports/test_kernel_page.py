from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.groups import KernelGroup, group
from bot.reports.kernel_figures import Fact
from bot.reports.kernel_page import MOST_FINDINGS, KernelPage, kernel_page, render_kernel
from bot.reports.neutral import FENCE_COST, block
from bot.reports.picker import CONTENT_LIMIT
from counters.launches import Summary
from counters.model import Metric
from counters.names import display_width
from counters.parse import read_summary
from counters.raw import RawKernel, read_raw
from counters.stalls import Stall, is_stall
from runner.settings import RECORDINGS
from tests.counters.make import TABLE_METRICS, MetricCells, launch, rule, summary
from tests.counters.test_recordings import ALL

OCCUPANCY: list[MetricCells] = [
    ("Occupancy", "Block Limit Registers", "block", "5"),
    ("Occupancy", "Block Limit Shared Mem", "block", "3"),
    ("Occupancy", "Block Limit Warps", "block", "8"),
    ("Occupancy", "Block Limit Barriers", "block", "32"),
    ("Occupancy", "Theoretical Occupancy", "%", "37.5"),
]
MEMORY: list[MetricCells] = [
    ("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "165.88"),
    ("Memory Workload Analysis", "L2 Hit Rate", "%", "53.17"),
    ("Launch Statistics", "Static Shared Memory Per Block", "Kbyte/block", "8.19"),
    ("Launch Statistics", "Waves Per SM", "", "1.94"),
]


def page(*extra: MetricCells, rules: tuple[list[str], ...] = (), **raw: float) -> KernelPage:
    whole = summary(*launch(metrics=[*TABLE_METRICS, *extra]), *rules)
    stalls = {
        name: Metric("", name, "inst", value, "")
        for reason, value in raw.items()
        for name in [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"]
    }
    return kernel_page(whole, group(whole)[0], [RawKernel(0, "add_kernel", stalls)])


def figures(facts: tuple[Fact, ...]) -> dict[str, str]:
    return {fact.label: fact.text for fact in facts}


def test_figures_by_hand() -> None:
    found = page(*OCCUPANCY, *MEMORY)
    assert figures(found.speed_of_light) == {
        "SM": "5.41 %", "memory": "2.88 %", "L1/TEX": "n/a", "L2": "n/a", "DRAM": "0.09 %",
        "issue slots": "n/a",
    }  # fmt: skip
    assert figures(found.occupancy) == {
        "achieved": "24.95 %", "theoretical": "37.50 %", "registers allow": "5 blocks",
        "shared memory": "3 blocks", "warps allow": "8 blocks", "barriers allow": "32 blocks",
    }  # fmt: skip
    assert figures(found.memory)["DRAM traffic"] == "165.88 GB/s"
    assert figures(found.launch)["static shared"] == "8.19 KB"
    assert found.memory[0].value == 165.88e9
    assert (found.times, found.share, found.longest) == ("21.06 µs in 1 launch", 1.0, 0)


def test_the_smallest_block_limit_limits_occupancy() -> None:
    assert page(*OCCUPANCY).limiters == ("shared memory",)
    both = [*OCCUPANCY, ("Occupancy", "Block Limit SM", "block", "3")]
    assert page(*both).limiters == ("shared memory", "blocks of an SM")


def test_full_or_unknown_occupancy_has_no_limiter() -> None:
    assert page(*OCCUPANCY[:4], ("Occupancy", "Theoretical Occupancy", "%", "100")).limiters == ()
    assert page(*OCCUPANCY[:4]).limiters == ()
    assert page(OCCUPANCY[4]).limiters == ()


def test_stalls_come_from_the_raw_page_of_the_same_launch() -> None:
    assert page(long_scoreboard=6.0, wait=2.0).stalls == (
        Stall("long_scoreboard", 0.75, 6.0),
        Stall("wait", 0.25, 2.0),
    )
    whole = summary(*launch(5))
    other = RawKernel(4, "add_kernel", {})
    assert kernel_page(whole, group(whole)[0], [other]).stalls == ()


def test_stalls_of_the_details_page_go_first() -> None:
    name = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"
    assert page(("Warp State", name, "inst", "3"), barrier=1.0).stalls == (Stall("wait", 1.0, 3.0),)


def test_stalls_and_findings_are_of_the_longest_launch() -> None:
    slow = ("GPU Speed Of Light Throughput", "Duration", "ms", "1")
    rows = [
        *launch(0),
        *launch(1, metrics=[slow]),
        rule(1, "add_kernel", "R", "OPT", "It.", "", ""),
    ]
    whole = summary(*rows)
    shown = kernel_page(whole, next(one for one in group(whole) if 1 in one.launches))
    assert (shown.longest, [finding.text for finding in shown.findings]) == (1, ["It."])


def test_a_page_looks_like_this() -> None:
    rules = (
        rule(0, "add_kernel", "New", "OPT", "Use more of it. Always.", "global", "47.25"),
        rule(0, "add_kernel", "Pipe", "OPT", "Fill the pipes.", "local", "98.6"),
    )
    text = render_kernel(page(*OCCUPANCY, *MEMORY, rules=rules, long_scoreboard=6.0, wait=2.0))
    assert text.splitlines() == [
        "add_kernel",
        "21.06 µs in 1 launch, 100.00% of the time",
        "bound by occupancy: theoretical occupancy 37.5%: below 50%",
        "── speed of light, % of peak",
        "SM                    5.41 %   memory                2.88 %",
        "L1/TEX                   n/a   L2                       n/a",
        "DRAM                  0.09 %   issue slots              n/a",
        "── occupancy",
        "achieved             24.95 %   theoretical          37.50 %",
        "registers allow     5 blocks   shared memory       3 blocks",
        "warps allow         8 blocks   barriers allow     32 blocks",
        "theoretical occupancy is limited by shared memory",
        "── memory",
        "DRAM traffic     165.88 GB/s   memory busy              n/a",
        "L1/TEX hits              n/a   memory pipes             n/a",
        "L2 hits              53.17 %   register spills          n/a",
        "── launch",
        "grid × block                                 16,2,1 × 32,8,1",
        "registers/thread          40   waves per SM            1.94",
        "static shared        8.19 KB   blocks                   n/a",
        "dynamic shared           n/a   SMs                      n/a",
        "── warp stalls: share, cycles per instruction",
        "long scoreboard     75.0 % 6   wait                25.0 % 2",
        "── ncu's rules, estimated speed-up first",
        "  47.2%  Use more of it.",
        "         Fill the pipes. (98.6% of that unit)",
    ]


def test_what_is_not_there_is_said() -> None:
    text = render_kernel(page())
    assert "not in this capture (the raw export has them)" in text
    assert text.endswith("\nnone")


ROOM = CONTENT_LIMIT - FENCE_COST


def assert_a_whole_page(whole: Summary, one: KernelGroup, raw: tuple[RawKernel, ...]) -> None:
    page = kernel_page(whole, one, raw)
    text = render_kernel(page, max_chars=ROOM)
    assert text == render_kernel(page)
    assert len(block(text, CONTENT_LIMIT)) <= CONTENT_LIMIT
    assert "n/a" not in text
    rest = len(page.findings) - MOST_FINDINGS
    if rest > 0:
        assert text.endswith(f"\n… and {rest} more in ncu-details.csv")


@pytest.mark.parametrize("folder", ALL)
def test_every_kernel_of_a_recording_fits_a_message(recordings: Path, folder: str) -> None:
    whole = read_summary(recordings / folder / "ncu-details.csv")
    raw = recordings / folder / "ncu-raw.csv"
    for one in group(whole):
        assert_a_whole_page(whole, one, read_raw(raw, is_stall) if raw.exists() else ())


@pytest.mark.parametrize("folder", sorted(RECORDINGS.glob("*/")), ids=lambda path: path.name)
def test_every_kernel_of_a_packaged_recording_fits_a_message(folder: Path) -> None:
    whole = read_summary(folder / "ncu-details.csv")
    for one in group(whole):
        assert_a_whole_page(whole, one, read_raw(folder / "ncu-raw.csv", is_stall))


def test_a_page_that_is_cut_says_how_many_lines_are_missing() -> None:
    whole = render_kernel(page(*OCCUPANCY, *MEMORY)).splitlines()
    cut = render_kernel(page(*OCCUPANCY, *MEMORY), max_chars=400).splitlines()
    assert cut == [*whole[: len(cut) - 1], f"… {len(whole) - len(cut) + 1} more lines"]


def test_limiters_of_a_real_kernel(recordings: Path) -> None:
    whole = read_summary(recordings / "ok-hot-four-kernels" / "ncu-details.csv")
    pages = {one.label: kernel_page(whole, one).limiters for one in group(whole)}
    # Registers allow 2 blocks, shared memory 7, warps 8 (column_rotate_batch, by hand).
    assert pages["column_rotate_batch"] == ("registers",)


TEXT = st.text(max_size=200)
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(TEXT, TEXT, VALUES, st.integers(60, 100), st.none() | st.integers(0, 900))
def test_no_kernel_breaks_the_lines(
    name: str, advice: str, value: float | None, width: int, max_chars: int | None
) -> None:
    cells = [(section, label, unit, repr(value)) for section, label, unit, _ in OCCUPANCY + MEMORY]
    whole = summary(
        *launch(0, name, cells), rule(0, name, "R", "OPT", advice, "local", repr(value))
    )
    text = render_kernel(kernel_page(whole, group(whole)[0]), width, max_chars)
    assert all(display_width(line) <= width and line.isprintable() for line in text.split("\n"))
    assert max_chars is None or len(text.encode("utf-16-le")) // 2 <= max(max_chars, 1)


def test_too_narrow_a_page_is_refused() -> None:
    with pytest.raises(ValueError, match="59"):
        render_kernel(page(), width=59)
