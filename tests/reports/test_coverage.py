"""What a user reads of how much of a call was captured."""

import pytest
from msgspec.structs import replace

from bot.reports.coverage import captured_words, census_table, coverage_lines, found_words
from runner_client.captures import (
    CaptureMode,
    CensusFound,
    CensusNote,
    CensusReport,
    CensusSign,
    Counted,
    Coverage,
    Place,
)


def counted(name: str = "syevbj", total_ns: int = 990_000_000) -> Counted:
    return Counted(
        name=name,
        grid=(1, 1, 1),
        block=(1, 1, 1),
        launches=201_283,
        total_ns=total_ns,
        min_ns=1,
        max_ns=total_ns,
        sd_ns=0.0,
    )


CENSUS = CensusReport(
    launches=831_561,
    total_ns=1_000_000_000,
    range_ns=1_200_000_000,
    kernels=3,
    processes=1,
    complete=True,
    counted=(counted(), counted("<@1>`\x1b[31m", 10_000_000)),
)


def test_hot_kernels_and_what_they_stand_for() -> None:
    coverage = Coverage(mode=CaptureMode.HOT, share=0.9901, census=CENSUS)
    said = "captured 4 of 831,561 launches, representing 99.0 % of GPU time"
    assert coverage_lines(coverage, 4) == (said,)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Place(nth=50, fewest=100, most=100), "launch 50 of 100 was taken"),
        (
            Place(nth=72, fewest=201_283, most=209_426),
            (
                "launch 72 of 201,283 to 209,426 was taken, early in the call: "
                "ncu lets launches pass slowly"
            ),
        ),
        (
            Place(nth=20, fewest=40, most=9_000),
            (
                "launch 20 of 40 to 9,000 was taken, as far as the rarest one allows: "
                "early for the others"
            ),
        ),
    ],
)
def test_which_launch_of_each_kernel_was_taken(place: Place, said: str) -> None:
    coverage = Coverage(mode=CaptureMode.HOT, share=0.99, census=CENSUS, place=place)
    assert coverage_lines(coverage, 4)[1] == f"of each kernel, {said}"
    assert len(coverage_lines(coverage, 0)) == 0
    several = replace(coverage, census=replace(CENSUS, processes=3))
    assert " was taken in each process" in coverage_lines(several, 4)[1]


def test_a_kernel_that_is_launched_once_needs_no_place() -> None:
    place = Place(nth=1, fewest=1, most=1)
    assert len(coverage_lines(Coverage(mode=CaptureMode.HOT, census=CENSUS, place=place), 2)) == 1


def test_what_was_captured_in_a_few_words() -> None:
    assert captured_words(None, 1, 10) == "1 launch (cap 10)"
    assert captured_words(Coverage(mode=CaptureMode.HOT), 4, 10) == "4 launches (cap 10)"
    assert captured_words(Coverage(mode=CaptureMode.RANGE), 1, 10) == "the call as one"
    assert captured_words(Coverage(mode=CaptureMode.CENSUS), 0, 10) == "a census, no counters"
    assert captured_words(Coverage(mode=CaptureMode.TIMELINE), 0, 10) == "a timeline, no counters"
    (line,) = coverage_lines(Coverage(mode=CaptureMode.TIMELINE), 0)
    assert "Nsight Systems" in line


def test_what_a_census_found_while_the_capture_is_under_way() -> None:
    found = CensusFound(launches=831_561, kernels=12, chosen=4)
    said = "census: 831,561 launches of 12 kernels; now capturing"
    assert found_words(found) == f"{said} 4 of them"
    assert found_words(replace(found, chosen=0)) == f"{said} the first launches"
    one = found_words(CensusFound(launches=1, kernels=1, chosen=1))
    assert one.startswith("census: 1 launch of 1 kernel;")


def test_first_launches_and_what_they_leave_out() -> None:
    coverage = Coverage(mode=CaptureMode.FIRST, share=0.000_14, census=CENSUS)
    said = "captured 10 of 831,561 launches, holding 0.01 % of GPU time; 831,551 were left out"
    assert coverage_lines(coverage, 10) == (said,)
    assert coverage_lines(Coverage(mode=CaptureMode.FIRST), 10) == ()


def test_a_fall_back_says_why() -> None:
    coverage = Coverage(mode=CaptureMode.FIRST, fallback="recordings have no census")
    [said] = coverage_lines(coverage, 10)
    assert said.endswith("in place of the hot kernels: recordings have no census")


def test_autotuning_in_the_range_is_said_with_a_way_out() -> None:
    note = CensusNote(sign=CensusSign.AUTOTUNING, kernel="matmul", launches=16_814, share=0.55)
    census = CensusReport(
        launches=30_272,
        total_ns=10,
        range_ns=10,
        kernels=2,
        processes=1,
        complete=True,
        unseen=0.25,
        notes=(note,),
    )
    lines = coverage_lines(Coverage(mode=CaptureMode.HOT, share=0.5, census=census), 2)
    assert "25.0 % of GPU time is in kernels that another thread launched" in lines[1]
    assert "many candidates of matmul, 55.0 %" in lines[2]
    assert "warm-up" in lines[2]


@pytest.mark.parametrize("sign", CensusSign)
def test_each_sign_says_how_to_move_it_out_of_the_range(sign: CensusSign) -> None:
    note = CensusNote(sign=sign, kernel="k<@1>", launches=1_300, share=0.5)
    coverage = Coverage(mode=CaptureMode.CENSUS, census=replace(CENSUS, notes=(note,)))
    said = coverage_lines(coverage, 0)[1]
    assert "50.0 %" in said
    assert said.rpartition(". ")[2].startswith(("Tune once when", "Compile when"))
    assert "the module is loaded or in the warm-up" in said


def test_a_census_is_a_table_by_time() -> None:
    lines = census_table(CENSUS).splitlines()
    assert lines[1].split() == ["syevbj", "201,283", "990", "ms", "99.0", "%"]
    assert "\\x1b" in lines[2]
    assert lines[3] == "and 1 more, by kernel and shape"
    assert lines[4] == "831,561 launches, 1 s of GPU time in a range of 1.2 s"
