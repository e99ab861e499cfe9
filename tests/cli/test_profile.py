"""`ncubot profile` as a user types it, on the stand-in programs."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import main
from tests.standin.problem import EVALUATOR, GOOD, replaying
from tests.standin.tools import install

TASK = """
files:
  - {name: eval.py, source: ../eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
lang: py
config: {main: eval.py}
description: capitals
benchmark_timeout: 20
benchmarks:
  - {size: 1024, seed: 31232}
  - {size: 2048, seed: 4052}
"""
Profile = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a problem set with one problem and a shared evaluator."""
    problem = tmp_path / "set" / "capitals"
    problem.mkdir(parents=True)
    (problem / "task.yml").write_text(TASK, encoding="utf-8")
    (problem.parent / "eval.py").write_text(EVALUATOR, encoding="utf-8")
    return tmp_path


@pytest.fixture
def profile(
    folder: Path,
    recordings: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Profile:
    """Return a function that runs `ncubot profile` and gives status, stdout and stderr."""
    tools = install(folder / "bin", recordings)
    monkeypatch.setenv("NCUBOT_RUNNER_NCU", str(tools.ncu))
    monkeypatch.setenv("NCUBOT_RUNNER_READ_ONLY", tools.variable)
    monkeypatch.setenv("NCUBOT_RUNNER_GPU", "H200")
    monkeypatch.setenv("NCUBOT_RUNNER_REPLAY_S", "0.05")
    monkeypatch.chdir(folder)

    def run(source: str, *options: str, name: str = "kernel.py") -> tuple[int, str, str]:
        (folder / name).write_text(source, encoding="utf-8")
        argv = ["ncubot", "profile", name, "--problem", "set/capitals", *options]
        monkeypatch.setattr(sys, "argv", argv)
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_a_capture_prints_its_table_and_leaves_its_files(profile: Profile, folder: Path) -> None:
    status, out, err = profile(replaying("ok-geqrf-four-kernels"))
    assert status == 0
    assert "benchmark 1 · size: 2048; seed: 4052: 4 launches, evaluator said: pass" in out
    assert out.count("geqr2_batch_kernel_shmem") == 2
    assert "benchmark 0: kernel 4 of at most 10, 38 passes: geqr2_batch_kernel_shmem" in err
    assert "benchmark 1: exporting" in err
    names = {path.name for path in (folder / "ncubot-profile").iterdir()}
    assert names >= {"manifest.json", "profile.1-size-2048-seed-4052.ncu-rep", "ncu-details.1.csv"}


def test_one_benchmark_and_options(profile: Profile, folder: Path) -> None:
    options = ("--benchmark-index", "1", "--kernel-name", "regex:^add", "--launch-count", "2")
    status, out, _ = profile(replaying("ok-triton-2048"), *options, "--out", "here")
    assert status == 0
    assert "benchmark 1" in out
    assert "benchmark 0" not in out
    manifest = json.loads((folder / "here" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["leaderboard"] == "capitals"
    assert manifest["capture_options"]["kernel_name"] == "regex:^add"
    assert manifest["capture_options"]["launch_count"] == 2


def test_a_failed_capture_is_one_sentence_and_status_1(profile: Profile) -> None:
    status, out, err = profile(replaying("fail-submission-raises"), "--benchmark-index", "0")
    assert status == 1
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("ncubot: benchmark 0: ")
    assert "RuntimeError: boom (submission.py:1)" in last


def test_a_wrong_answer_has_its_table_and_is_said(profile: Profile) -> None:
    status, out, _ = profile(replaying("wrong-answer-with-report"), "--benchmark-index", "0")
    assert status == 0
    assert "evaluator said: FAIL R - Q.T @ A is too large" in out


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (
            GOOD,
            ("--benchmark-index", "7"),
            "no benchmark 7: choose one of 0 (size: 1024; seed: 31232)",
        ),
        (GOOD, ("--launch-count", "0"), "--launch-count"),
        (GOOD, ("--kernel-name", ""), "capture options"),
        (GOOD, ("--kernel-name-base", "other"), "--kernel-name-base"),
        (GOOD, ("--problem", "nowhere"), "task.yml"),
        (" \n", (), 'kernel.py" is empty'),
        ("x" * 1_000_001, (), 'kernel.py" has 1,000,001 bytes and the limit is 1,000,000'),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    profile: Profile, source: str, options: tuple[str, ...], said: str
) -> None:
    status, out, err = profile(source, *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_a_machine_without_ncu_says_so(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCUBOT_RUNNER_NCU", "no-such-ncu")
    status, _, err = profile(GOOD)
    assert status == 2
    assert "`no-such-ncu` was not found" in err


def test_a_replay_says_that_it_is_one(profile: Profile) -> None:
    problem = Path(__file__).resolve().parents[2] / "problems" / "linalg" / "qr_v2"
    sample = (problem / "submissions" / "starter.py").read_text(encoding="utf-8")
    options = ("--engine", "recorded", "--problem", str(problem), "--benchmark-index", "0")
    status, out, _ = profile(sample, *options)
    assert status == 0
    assert "launches, recorded on NVIDIA H200, evaluator said: pass" in out


def test_the_recorded_engine_refuses_what_it_has_not(profile: Profile) -> None:
    status, out, err = profile(GOOD, "--engine", "recorded")
    assert (status, out) == (1, "")
    assert err.splitlines()[-1].startswith("ncubot: ")


def test_a_file_of_another_language_is_refused_like_in_discord(profile: Profile) -> None:
    status, _, err = profile(GOOD, name="kernel.md")
    assert status == 2
    assert err == (
        'ncubot: "kernel.md" is of a type that this problem does not take: it takes .py files.\n'
    )
