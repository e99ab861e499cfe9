"""The small pure parts: names, text, log, versions, commands, files."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters.launches import Summary, summarize
from counters.model import Kernel, Metric
from runner.capture.artifacts import NotTaken, report_name, slug, take
from runner.capture.build import compile_failure
from runner.capture.command import capture_options, compile_cuda, evaluator, exports, profiled
from runner.capture.export import _Limited
from runner.capture.outcome import has_values
from runner.capture.popcorn import PopcornLog, parse_log
from runner.capture.workspace import workspace
from runner.health.system import Gpus, competition_name, parse_gpus, parse_ncu_version
from runner.isolation.halt import Stop
from runner.isolation.process import Finished
from runner.jobs.files import read_lines, write_atomic
from runner.text import Tail, clean, one_line
from runner_client.captures import CaptureOptions, KernelNameBase
from runner_client.wire import Benchmark, CudaEvaluator, FailureKind, Mode, PythonEvaluator
from tests.standin.ncu import BANNER
from tests.standin.nvcc import ERROR
from tests.standin.problem import job


@pytest.mark.parametrize(
    ("driver", "competition"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA B200", "B200"),
        ("Tesla T4", "T4"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("", ""),
    ],
)
def test_gpu_names(driver: str, competition: str) -> None:
    assert competition_name(driver) == competition


def test_the_drivers_and_ncus_own_words() -> None:
    assert parse_gpus("NVIDIA H200, 580.159\nNVIDIA H200, 580.159\n") == Gpus(
        ("NVIDIA H200", "NVIDIA H200"), "580.159"
    )
    assert parse_gpus("") == Gpus((), "")
    assert parse_ncu_version(BANNER) == "2025.3.1.0"
    assert parse_ncu_version("not found") == ""


def test_the_capture_command_is_the_contracts() -> None:
    options = CaptureOptions(
        kernel_name="--kill", kernel_name_base=KernelNameBase.DEMANGLED, launch_count=3
    )
    argv = profiled("ncu", options, Path("/out/p.ncu-rep"), ("python3", "eval.py"))
    assert " ".join(argv) == (
        "ncu --set=full --import-source=yes --nvtx --nvtx-include=custom_kernel/ "
        "--target-processes=all --cache-control=all --clock-control=none --replay-mode=kernel "
        "--force-overwrite --launch-count=3 --kernel-name=--kill --kernel-name-base=demangled "
        "--export=/out/p.ncu-rep python3 eval.py"
    )


def test_options_that_were_not_asked_for_are_absent() -> None:
    assert not [word for word in capture_options(CaptureOptions()) if "kernel-name" in word]


def test_other_commands() -> None:
    spec_file = Path("/tmp/spec")  # noqa: S108 - no file is made
    python = evaluator("/bin/python", PythonEvaluator(main="eval.py"), Mode.TEST, spec_file)
    assert python == ("/bin/python", "eval.py", "test", str(spec_file))
    config = CudaEvaluator(sources=("a.cu", "b.cu"), defines={"N": "4", "A": "x y"})
    assert evaluator("", config, Mode.PROFILE, spec_file)[0] == "./eval.out"
    assert " ".join(compile_cuda("nvcc", config)) == (
        "nvcc -O3 -std=c++17 -lineinfo -arch=native -DA=x y -DN=4 a.cu b.cu -ldl -o eval.out"
    )
    assert exports("ncu", Path("r"))["raw_csv"][-3:] == ("--page", "raw", "--csv")


@given(st.text(max_size=300))
def test_every_shape_makes_an_artifact_name(spec: str) -> None:
    assert len(report_name(Benchmark(index=3, spec=spec))) < 110
    assert not set(slug(spec)) & set("/\\ \0\n:;")


def test_a_shape_as_a_name() -> None:
    assert slug("batch: 20; n: 32; cond: -1") == "batch-20-n-32-cond-1"
    assert report_name(Benchmark(index=3, spec="")) == "profile.3.ncu-rep"


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "large"])
def test_odd_things_are_not_taken(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "source"
    if kind == "link":
        source.symlink_to("/etc/passwd")
    elif kind == "folder":
        source.mkdir()
    elif kind == "fifo":
        os.mkfifo(source)
    else:
        source.write_bytes(b"x" * 101)
    with pytest.raises(NotTaken):
        take(source, tmp_path / "profile.0.ncu-rep", 100)
    assert not (tmp_path / "profile.0.ncu-rep").exists()


def test_nothing_and_an_empty_file_are_no_report(tmp_path: Path) -> None:
    assert take(tmp_path / "source", tmp_path / "target", 100) is None
    (tmp_path / "source").touch()
    assert take(tmp_path / "source", tmp_path / "target", 100) is None


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_the_log_is_the_same_in_any_pieces(pieces: list[bytes]) -> None:
    log = PopcornLog()
    for piece in pieces:
        log.feed(piece)
    assert log.values() == parse_log(b"".join(pieces))


def test_the_log_is_bounded_but_keeps_the_verdict() -> None:
    lines = b"".join(b"key%d: value\n" % number for number in range(10_000))
    log = parse_log(lines + b"check: fail\n" + b"x" * 1_000_000 + b": y\n")
    assert len(log) <= 501
    assert log["check"] == "fail"


@given(st.lists(st.binary(max_size=50), max_size=30))
def test_a_tail_holds_both_ends(pieces: list[bytes]) -> None:
    tail = Tail(limit=100)
    for piece in pieces:
        tail.feed(piece)
    whole = b"".join(pieces)
    if len(whole) <= 100:
        assert tail.text() == clean(whole.decode(errors="replace"))
    else:
        assert f"[{len(whole) - 100} bytes left out]" in tail.text()


@given(st.text())
def test_one_line_is_one_printable_line(text: str) -> None:
    line = one_line(text, 50)
    assert len(line) <= 50
    assert len(line.splitlines()) <= 1


def finished(exit_code: int, stderr: str = "", stopped: Stop | None = None) -> Finished:
    return Finished(
        exit_code=exit_code, stopped=stopped, stdout="", stderr=stderr, log={}, duration_s=0.0
    )


@pytest.mark.parametrize(
    ("nvcc", "detail"),
    [
        (finished(2, ERROR), 'submission.cu(3): error: expected a ";" (and 1 more)'),
        (finished(1, "x.o: undefined reference to `f'\n"), "undefined reference to `f'"),
        (finished(1), "nvcc ended with status 1"),
        (finished(-15, stopped=Stop.TIME_LIMIT), "nvcc did not end in time"),
    ],
)
def test_compile_errors(nvcc: Finished, detail: str) -> None:
    failure = compile_failure(nvcc)
    assert failure is not None
    assert failure.kind is FailureKind.COMPILE_ERROR
    assert detail in failure.detail


def test_a_compile_that_met_a_limit_is_named_for_it() -> None:
    failure = compile_failure(finished(-9, stopped=Stop.MEMORY_LIMIT))
    assert failure is not None
    assert failure.kind is FailureKind.MEMORY_LIMIT


def test_a_good_compile_and_a_cancelled_one() -> None:
    assert compile_failure(finished(0)) is None
    cancelled = compile_failure(finished(-15, stopped=Stop.CANCELLED))
    assert cancelled is not None
    assert cancelled.kind is FailureKind.CANCELLED


def report(section: str, name: str, unit: str, value: float | None) -> Summary:
    metric = Metric(section, name, unit, value, "")
    kernel = Kernel(0, "add", "add", None, None, "0", "9.0", (metric,), ())
    return summarize([kernel])


def test_only_a_measured_value_counts() -> None:
    assert not has_values(None)
    assert not has_values(summarize([]))
    assert not has_values(report("Launch Statistics", "Registers Per Thread", "", 32.0))
    assert not has_values(report("Occupancy", "Achieved Occupancy", "%", None))
    assert has_values(report("Occupancy", "Achieved Occupancy", "%", 40.0))


def test_an_export_is_cut_at_its_limit(tmp_path: Path) -> None:
    with (tmp_path / "export").open("wb") as file:
        limited = _Limited(file, 5)
        limited.feed(b"abc")
        cut_at_three = limited.cut
        limited.feed(b"defg")
        assert (cut_at_three, limited.cut) == (False, True)
    assert (tmp_path / "export").read_bytes() == b"abcde"


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert read_lines(path) == []
    path.write_bytes(b"one\ntwo\nthr")
    assert read_lines(path) == [b"one", b"two"]
    assert path.read_bytes() == b"one\ntwo\n"
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_workspace_is_written_anew_and_vanishes(tmp_path: Path) -> None:
    spec = job()
    with workspace(tmp_path / "work", spec.id) as work:
        work.write_files(spec)
        (work.src / "eval.py").unlink()
        (work.src / "eval.py").symlink_to(tmp_path / "elsewhere")
        (work.src / "submission.py").unlink()
        (work.src / "submission.py").mkdir()
        work.write_files(spec)
        assert (work.src / "submission.py").read_text() == spec.submission.content
        assert not (tmp_path / "elsewhere").exists()
        line = work.given / work.write_spec(spec.benchmarks[0])
        assert line.read_text() == spec.benchmarks[0].spec
        root = work.root
    assert not root.exists()
