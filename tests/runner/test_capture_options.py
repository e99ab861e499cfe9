"""The rule of the usual mode, and the command lines of each mode."""

from pathlib import Path

import pytest

from runner.capture import command
from runner.census.choose import choose
from runner.census.reading import merge
from runner.census.table import decode
from runner_client.captures import CaptureMode, CaptureOptions, Preset, capture_options
from tests.standin.census import EIGH, table


def test_hot_is_usual_unless_certain_launches_are_asked_for() -> None:
    assert capture_options().mode is CaptureMode.HOT
    assert capture_options(preset=Preset.QUICK).mode is CaptureMode.HOT
    assert capture_options(kernel_name="add").mode is CaptureMode.FIRST
    assert capture_options(launch_count=10).mode is CaptureMode.FIRST
    assert capture_options(launch_count=5, mode=CaptureMode.HOT).mode is CaptureMode.HOT
    # What popcorn-cli and older bots ask for.
    assert CaptureOptions().mode is CaptureMode.FIRST
    assert not CaptureOptions().census


@pytest.mark.parametrize(
    ("preset", "name"),
    [("quick", "basic"), ("standard", "detailed"), ("full", "full"), ("roofline", "roofline")],
)
def test_presets_are_ncus_sets(preset: str, name: str) -> None:
    assert f"--set={name}" in command.capture_options(CaptureOptions(preset=Preset(preset)))


def test_hot_kernels_are_asked_for_in_one_pass_that_ends_early() -> None:
    census = merge([decode(table(EIGH).encode())])
    choice = choose(census, 10)
    assert choice is not None
    options = command.capture_options(CaptureOptions(mode=CaptureMode.HOT), choice)
    [asked] = [word for word in options if word.startswith("--kernel-id=")]
    assert asked.startswith("--kernel-id=::regex:^(syevbj")
    assert {"--launch-count=4", "--kill=yes", "--nvtx-include=custom_kernel/"} < set(options)
    assert "--kernel-name-base=mangled" in options


def test_a_range_is_replayed_as_one() -> None:
    options = command.capture_options(CaptureOptions(mode=CaptureMode.RANGE))
    assert "--replay-mode=range" in options
    assert not [word for word in options if word.startswith("--import-source")]
    assert "--nvtx-include=custom_kernel/" in options
    assert "--kill=yes" not in options


def test_timed_launches_are_taken_without_the_range_and_with_an_early_end() -> None:
    options = command.capture_options(CaptureOptions(mode=CaptureMode.PROFILER_API))
    assert {"--profile-from-start=off", "--launch-count=10", "--kill=yes"} < set(options)
    assert not [word for word in options if "nvtx" in word]


def test_the_command_line_of_a_timeline() -> None:
    program = ("python3", "eval.py", "benchmark", "spec.txt")
    argv = command.timeline("nsys", Path("/job/out/profile.0.nsys-rep"), program)
    assert argv[:5] == (
        "nsys",
        "profile",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop",
        "--trace=cuda,nvtx",
    )
    assert argv[-5:] == ("--output=/job/out/profile.0.nsys-rep", *program)
