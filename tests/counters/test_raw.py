import io
from pathlib import Path

import pytest

from counters.errors import Lack, NoTable
from counters.model import Metric
from counters.parse import read_report
from counters.raw import RawKernel, parse_raw, read_raw
from counters.source import Notes
from counters.stalls import Stall, is_stall, stalls

CYCLES = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
SAMPLES = "smsp__pcsamp_warps_issue_stalled_{}"
HEADER = '"ID","Process ID","Kernel Name","gpu__time_duration.sum","launch__x","dram__bytes.sum"\n'
UNITS = '"","","","us","","Mbyte"\n'
ROW = '"0","7","void k<int, 4>(int)","21.06","CachePreferNone","1,024.50"\n'


def parsed(text: str, notes: Notes | None = None) -> list[RawKernel]:
    lines = io.StringIO(text, newline="")
    return list(parse_raw(lines, lambda name: "__" in name, notes or Notes()))


def test_values_come_out_in_base_units() -> None:
    (launch,) = parsed(HEADER + UNITS + ROW)
    assert (launch.id, launch.name) == (0, "void k<int, 4>(int)")
    assert launch.value("gpu__time_duration.sum") == 21060.0
    assert launch.value("dram__bytes.sum") == 1_024_500_000.0
    assert launch.metrics["launch__x"] == Metric("", "launch__x", "", None, "CachePreferNone")
    assert launch.value("absent") is None


def test_only_what_is_wanted_is_kept() -> None:
    lines = io.StringIO(HEADER + UNITS + ROW, newline="")
    (launch,) = parse_raw(lines, "launch__x".__eq__, Notes())
    assert list(launch.metrics) == ["launch__x"]


@pytest.mark.parametrize("noise", ["", "==PROF== Connected\n", '"ID","x"\n', "\ufeff"])
def test_noise_above_the_header_is_skipped(noise: str) -> None:
    assert parsed(noise + HEADER + UNITS + ROW) == parsed(HEADER + UNITS + ROW)


@pytest.mark.parametrize(
    ("tail", "note"),
    [
        ('"0","7"\n', "line 4: not a row of the table"),
        ('"x","7","k","1","2","3"\n', "line 4: not a row of the table"),
        ('"1","7","k","1","2","3', "line 4: not a row of the table"),
        ('"1","7","k","1","2","3","4"\n', "line 4: not a row of the table"),
    ],
)
def test_what_is_no_launch_is_named(tail: str, note: str) -> None:
    notes = Notes()
    assert len(parsed(HEADER + UNITS + ROW + tail, notes)) == 1
    assert notes.done() == (note,)


def test_without_a_row_of_units_no_value_is_believed() -> None:
    notes = Notes()
    assert parsed(HEADER + ROW, notes) == []
    assert notes.done() == ("line 2: not a row of the table",)


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("", Lack.EMPTY),
        ("hello\n", Lack.NO_HEADER),
        ('"ID","Kernel Name","Section Name","Metric Name","Metric Value"\n', Lack.NO_HEADER),
    ],
)
def test_another_page_is_refused(text: str, lack: Lack) -> None:
    with pytest.raises(NoTable) as caught:
        parsed(text)
    assert caught.value.lack is lack


@pytest.mark.parametrize("folder", ["ok-nvrtc-three-kernels", "ok-triton-1024"])
def test_the_pages_of_a_real_run_agree(recordings: Path, folder: str) -> None:
    names = {
        "gpu__time_duration.sum": "Duration",
        "launch__registers_per_thread": "Registers Per Thread",
    }
    raw = read_raw(recordings / folder / "ncu-raw.csv", names.__contains__)
    kernels = read_report(recordings / folder / "ncu-details.csv").kernels
    for launch, kernel in zip(raw, kernels, strict=True):
        said = {metric.name: metric.value for metric in kernel.metrics}
        assert (launch.id, launch.name) == (kernel.id, kernel.name)
        for name, label in names.items():
            assert launch.value(name) == pytest.approx(said[label], rel=0.005)


def metrics(form: str, **values: float | None) -> list[Metric]:
    return [Metric("", form.format(name), "inst", value, "") for name, value in values.items()]


def test_stalls_by_hand() -> None:
    found = metrics(CYCLES, selected=1.0, long_scoreboard=6.0, wait=2.0, barrier=0.0, drain=None)
    assert stalls(found) == (Stall("long_scoreboard", 0.75, 6.0), Stall("wait", 0.25, 2.0))


def test_measured_cycles_go_before_samples() -> None:
    both = [*metrics(SAMPLES, wait=9.0), *metrics(CYCLES, wait=2.0)]
    assert stalls(both) == (Stall("wait", 1.0, 2.0),)


def test_samples_serve_where_no_cycles_were_measured() -> None:
    found = metrics(SAMPLES, no_instructions=3.0, wait=1.0, wait_not_issued=50.0, selected=7.0)
    assert stalls(found) == (Stall("no_instruction", 0.75, None), Stall("wait", 0.25, None))


def test_no_stalls_at_all() -> None:
    assert stalls([]) == ()


def test_the_stalls_of_a_real_kernel(recordings: Path) -> None:
    raw = read_raw(recordings / "ok-nvrtc-three-kernels" / "ncu-raw.csv", is_stall)
    longest = stalls(raw[1].metrics.values())[:2]
    # 154.62 of 235.94 cycles, all reasons but `selected` summed by hand.
    assert [(stall.reason, stall.cycles) for stall in longest] == [
        ("long_scoreboard", 154.62),
        ("lg_throttle", 56.83),
    ]
    assert longest[0].share == pytest.approx(154.62 / 235.94, abs=0.001)
