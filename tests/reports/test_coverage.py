"""What a user reads of how much of a call was captured."""

from bot.reports.coverage import census_table, coverage_lines
from runner_client.captures import (
    CaptureMode,
    CensusNote,
    CensusReport,
    CensusSign,
    Counted,
    Coverage,
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


def test_a_census_is_a_table_by_time() -> None:
    lines = census_table(CENSUS).splitlines()
    assert lines[1].split() == ["syevbj", "201,283", "990", "ms", "99.0", "%"]
    assert "\\x1b" in lines[2]
    assert lines[3] == "and 1 more, by kernel and shape"
    assert lines[4] == "831,561 launches, 1 s of GPU time in a range of 1.2 s"
