"""ncu's findings in our words. Texts are cut from recordings of ncu 2025.3."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.advice import LONGEST, Finding, findings
from counters.model import Rule
from counters.parse import read_report


def said(name: str, description: str) -> str:
    (finding,) = findings([Rule(name, "OPT", description, "global", 1.0)])
    return finding.text


@pytest.mark.parametrize(
    ("rule", "theirs", "ours"),
    [
        (
            "AchievedOccupancy",
            (
                "The difference between calculated theoretical (100.0%) and measured "
                "achieved occupancy (6.2%) can be the result of warp scheduling "
                "overheads."
            ),
            "Occupancy is 6.2% of a possible 100%: warps start late or blocks end unevenly.",
        ),
        (
            "CPIStall",
            (
                "On average, each warp of this workload spends 8.6 cycles being stalled "
                "waiting for a scoreboard dependency on a L1TEX (local, global, surface, "
                "texture) operation. This stall type represents about 46.0% of the total "
                "average of 18.7 cycles between issuing two instructions."
            ),
            "Warps wait 8.6 of 18.7 cycles for data from global or local memory (L1TEX).",
        ),
        (
            "FPInstructions",
            (
                "This kernel executes 28768 fused and 77000 non-fused FP32 instructions. "
                "By converting pairs, the achieved FP32 performance could be increased by"
                " up to 36% (relative)."
            ),
            (
                "28768 fused and 77000 non-fused FP32 instructions: fused multiply-adds "
                "give up to 36% there."
            ),
        ),
        (
            "LaunchConfiguration",
            (
                "The grid for this launch is configured to execute only 80 blocks, which "
                "is less than the GPU's 132 multiprocessors. This can underutilize some "
                "multiprocessors."
            ),
            "80 blocks cannot fill 132 SMs: use a larger grid or smaller blocks.",
        ),
        (
            "LaunchConfiguration",
            (
                "This kernel launch results in 3 full waves and a partial wave of 929 "
                "thread blocks. This partial wave may account for up to 25.0% of the "
                "total runtime."
            ),
            "After 3 full waves, 929 blocks are left over: up to 25% of the time.",
        ),
        (
            "SharedMemoryConflicts",
            (
                "The memory access pattern for shared stores might not be optimal and "
                "causes on average a 3.8 - way bank conflict across all 5632 shared store"
                " requests.This results in 15872 bank conflicts,  which represent 73.81% "
                "of the overall 21504 wavefronts."
            ),
            "Shared stores: 3.8-way bank conflicts, 73.81% of their wavefronts.",
        ),
        (
            "TheoreticalOccupancy",
            (
                "This kernel's theoretical occupancy (75.0%) is limited by the number of "
                "required registers."
            ),
            "Occupancy cannot pass 75%: limited by the number of required registers.",
        ),
        (
            "UncoalescedGlobalAccess",
            (
                "This kernel has uncoalesced global accesses resulting in a total of "
                "17920 excessive sectors (78% of the total 23040 sectors)."
            ),
            "Uncoalesced global accesses: 78% of 23040 sectors are too many.",
        ),
        (
            "WorkloadImbalance",
            (
                "One or more SMs have a much lower number of active cycles than the "
                "average. Maximum instance value is 50.92% above the average, while the "
                "minimum instance value is 100.00% below the average."
            ),
            "Work is uneven over SMs: from 100% below to 50.92% above average.",
        ),
    ],
)
def test_a_known_rule_is_told_in_our_words_around_its_numbers(
    rule: str, theirs: str, ours: str
) -> None:
    assert said(rule, theirs) == ours


@pytest.mark.parametrize(
    ("rule", "theirs", "ours"),
    [
        ("NewRule", "Try it in 2.5 ways.\nIt helps.", "Try it in 2.5 ways."),
        ("NewRule", "Do this (see the guide). Then that.", "Do this (see the guide)."),
        ("AchievedOccupancy", "Another wording. With more.", "Another wording."),
        ("CPIStall", "Warps wait. For long.", "Warps wait."),
        ("NewRule", "x" * 300, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_an_unknown_rule_is_its_first_sentence(rule: str, theirs: str, ours: str) -> None:
    assert said(rule, theirs) == ours


def test_the_largest_estimate_comes_first_local_ones_after_those_for_the_kernel() -> None:
    rules = [
        Rule("A", "WRN", "No estimate.", "", None),
        Rule("B", "OPT", "Small.", "global", 2.0),
        Rule("C", "OPT", "Local.", "local", 99.0),
        Rule("D", "OPT", "Large.", "global", 40.0),
        Rule("D", "OPT", "Large.", "global", 40.0),
    ]
    assert findings(rules) == (
        Finding("D", "Large.", 40.0, local=False),
        Finding("B", "Small.", 2.0, local=False),
        Finding("C", "Local.", 99.0, local=True),
        Finding("A", "No estimate.", None, local=False),
    )


def test_what_says_nothing_is_left_out() -> None:
    silent = [
        Rule("CPIStall", "INF", "Check the Warp Stall Sampling (All Samples) table.", "", None),
        Rule("SOLFPRoofline", "INF", "The ratio of peak float to double is 2:1.", "", None),
        Rule("Empty", "OPT", " \n\x1b", "", None),
    ]
    assert findings(silent) == ()


def test_every_recorded_rule_is_known(recordings: Path) -> None:
    for path in recordings.glob("*/ncu-details.csv"):
        for kernel in read_report(path).kernels:
            for rule in kernel.rules:
                texts = [finding.text for finding in findings([rule])]
                assert all(not rule.description.startswith(text[:40]) for text in texts), rule


@given(
    st.sampled_from(["CPIStall", "FPInstructions", "WorkloadImbalance", "Other"]),
    st.text()
    | st.lists(
        st.sampled_from(
            ["spends 8 cycles being stalled ", "{0} {x} ", "1,2.3%", "One or more SMs have "]
        )
    ).map("".join),
)
def test_no_text_breaks_it(name: str, text: str) -> None:
    for finding in findings([Rule(name, "OPT", text, "global", None)]):
        assert 0 < len(finding.text) <= LONGEST
        assert finding.text.isprintable()


def test_a_hostile_text_takes_no_time() -> None:
    text = "spends 8 cycles being stalled value is 1% above " * 20_000
    assert findings(
        [Rule(name, "OPT", text, "", None) for name in ("CPIStall", "WorkloadImbalance")]
    )
