"""`ncubot verify` as an author types it, on the stand-in ncu."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import main
from tests.leaderboards.repository import change
from tests.standin.problem import EVALUATOR, replaying
from tests.standin.tools import install

TASK = """
files:
  - {name: eval.py, source: ../eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
lang: py
config: {main: eval.py}
description: capitals
templates: {Python: template.py}
gpus: [H200]
benchmark_timeout: 20
tests:
  - {size: 16, seed: 1}
  - {size: 32, seed: 2}
benchmarks:
  - {size: 1024, seed: 31232}
  - {size: 1024, seed: 31232}
  - {size: 2048, seed: 4052}
"""
LAUNCHES = """\
import os

SOURCE = '''
@triton.jit
def add_kernel(x): ...
'''


def custom_kernel(line):
    with open(os.environ["TMPDIR"] + "/launches", "a") as file:
        file.write("add_kernel\\n")
    return line.upper()
"""
Verify = Callable[..., tuple[int, str, str]]


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    """Make a problem with a shared evaluator and a template that launches a kernel."""
    folder = tmp_path / "set" / "capitals"
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(TASK, encoding="utf-8")
    (folder / "template.py").write_text(LAUNCHES, encoding="utf-8")
    (folder.parent / "eval.py").write_text(EVALUATOR, encoding="utf-8")
    return folder


@pytest.fixture
def verify(
    tmp_path: Path,
    recordings: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Verify:
    """Return a function that runs `ncubot verify` and gives status, stdout and stderr."""
    tools = install(tmp_path / "bin", recordings)
    monkeypatch.setenv("NCUBOT_RUNNER_NCU", str(tools.ncu))
    monkeypatch.setenv("NCUBOT_RUNNER_READ_ONLY", tools.variable)
    monkeypatch.setenv("NCUBOT_RUNNER_GPU", "H200")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ncubot", "verify", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def observed(out: str) -> dict[str, tuple[str, str]]:
    rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| ")]
    return {row[0]: (row[1], row[2]) for row in rows if row[1] in {"yes", "**no**"}}


def test_the_record_of_a_problem_that_gives_counters(
    verify: Verify, problem: Path, tmp_path: Path
) -> None:
    status, out, err = verify("set/capitals")
    assert status == 0, out
    assert out.startswith("### capitals: profile verified\n")
    assert "- Problem directory: `set/capitals`" in out
    assert "- Commit: none, the files belong to no commit" in out
    lines = "0 (`size: 1024; seed: 31232`), 2 (`size: 2048; seed: 4052`)"
    assert f"- Benchmarks: {lines}" in out
    assert "- Kernel filter: none\n- Launch limit: 10\n" in out
    assert [seen for seen, _ in observed(out).values()] == ["yes"] * 5
    assert observed(out)["test and benchmark modes still work"][1] == (
        "test: 2 passed; benchmark: 2 passed"
    )
    assert (
        "`add_kernel`"
        in observed(out)["the details name the submitted kernel and hold actual values"][1]
    )
    saved = {path.name: path for path in (tmp_path / "ncubot-verify").iterdir()}
    report = saved["profile.2-size-2048-seed-4052.ncu-rep"]
    assert f"| {report.name} | {report.stat().st_size} | " in out
    assert "benchmark 2: exporting" in err


def test_the_commit_and_the_listed_name(verify: Verify, problem: Path, tmp_path: Path) -> None:
    listing = "name: Set\nproblems:\n  - {directory: capitals, name: shout, gpus: [H200]}\n"
    (problem.parent / "set.yaml").write_text(listing)
    for arguments in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"),
    ):
        subprocess.run(["git", *arguments], cwd=problem.parent, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=problem.parent, check=True, capture_output=True, text=True
    )
    _, out, _ = verify("set/capitals", "--out", "there", "--launch-count", "3")
    assert out.startswith("### shout: profile verified")
    assert f"- Commit: {head.stdout.strip()}" in out
    assert "- Launch limit: 3" in out
    assert (tmp_path / "there" / "manifest.json").is_file()


def test_nothing_in_the_range(verify: Verify, problem: Path) -> None:
    change(problem / "template.py", "add_kernel\\n", "")
    status, out, _ = verify("set/capitals")
    assert status == 1
    assert out.startswith("### capitals: profile NOT verified")
    seen = list(observed(out).values())
    assert [one for one, _ in seen] == ["yes", "**no**", "**no**", "**no**", "yes"]
    assert seen[1][1].startswith("nothing-in-range")


def test_kernels_of_others_are_not_the_submitted_one(verify: Verify, problem: Path) -> None:
    change(problem / "template.py", "def add_kernel(", "def own_kernel(")
    status, out, _ = verify("set/capitals")
    assert status == 1
    seen = observed(out)["the details name the submitted kernel and hold actual values"]
    assert seen[0] == "**no**"
    assert seen[1].startswith("none of own_kernel, but")


def test_one_shape_and_no_tests_are_not_enough(verify: Verify, problem: Path) -> None:
    text = (problem / "task.yml").read_text()
    text = text.replace("  - {size: 2048, seed: 4052}\n", "")
    text = text.replace("tests:\n  - {size: 16, seed: 1}\n  - {size: 32, seed: 2}\n", "")
    (problem / "task.yml").write_text(text)
    status, out, _ = verify("set/capitals")
    assert status == 1
    assert observed(out)["a second benchmark index captured the other shape"] == (
        "**no**",
        "task.yml declares one shape only",
    )
    said = observed(out)["test and benchmark modes still work"][1]
    assert said == "test: task.yml declares none; benchmark: 1 passed"


def test_a_mode_that_no_longer_works(verify: Verify, problem: Path) -> None:
    change(problem.parent / "eval.py", '("test", "benchmark", "profile")', '("test", "profile")')
    status, out, _ = verify("set/capitals")
    assert status == 1
    seen, said = observed(out)["test and benchmark modes still work"]
    assert seen == "**no**"
    assert said.startswith("test: 2 passed; benchmark 0: ")


def test_another_submission_and_what_the_evaluator_ran_instead(
    verify: Verify, problem: Path, tmp_path: Path
) -> None:
    # The recording's evaluator logged another problem's spec.
    (tmp_path / "mine.py").write_text(replaying("ok-geqrf-four-kernels"))
    status, out, _ = verify("set/capitals", "--submission", "mine.py")
    assert status == 1
    seen, said = observed(out)["the run resolved the intended problem and benchmark"]
    assert (seen, said[:15]) == ("**no**", "benchmark 0 ran")


def test_without_a_gpu_it_says_so(
    verify: Verify, problem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NCUBOT_RUNNER_GPU")
    monkeypatch.setenv("PATH", "/nowhere")
    status, out, err = verify("set/capitals")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "no NVIDIA GPU was found" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere: no such folder"),
        (("set",), "task.yml"),
        (("set/capitals", "--submission", "no.py"), "no.py cannot be read"),
        (("set/capitals", "--kernel-name", "-x"), "kernel_name"),
        (("set/capitals", "--launch-count", "0"), "launch-count"),
    ],
)
def test_bad_input(verify: Verify, problem: Path, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = verify(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lang: py", "lang: py\nmulti_gpu: true", "several GPUs"),
        ("templates: {Python: template.py}\n", "", "name a file with --submission"),
    ],
)
def test_problems_that_cannot_be_verified(
    verify: Verify, problem: Path, old: str, new: str, said: str
) -> None:
    change(problem / "task.yml", old, new)
    status, _, err = verify("set/capitals")
    assert status == 2
    assert said in err
