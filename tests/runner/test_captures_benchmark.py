"""The benchmark of the capture modes, on stand-ins: a GPU is there seldom, and then it must run."""

import json
from pathlib import Path

import pytest

from benchmarks import captures
from benchmarks.captures import Call
from tests.standin.census import EIGH, counting
from tests.standin.problem import EVALUATOR
from tests.standin.toolkit import make_toolkit
from tests.standin.tools import Tools

TASK = """files:
  - {name: eval.py, source: eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
lang: py
config: {main: eval.py}
description: capitals
templates: {Python: template.py}
test_timeout: 20
benchmark_timeout: 20
ranked_timeout: 20
tests: [{size: 1}]
benchmarks: [{size: 1}, {size: 2}]
"""
WISHES = ("standin-hot: ok-hot-four-kernels", "standin: ok-geqrf-four-kernels")


@pytest.fixture
def problem(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a problem without PyTorch, and this machine's tools be the stand-ins."""
    folder = tmp_path / "problems" / "x"
    folder.mkdir(parents=True)
    mean = f'log("benchmark.0.mean", 2e6)  # {captures.RANGE}\n    log("check"'
    (folder / "eval.py").write_text(EVALUATOR.replace('log("check"', mean, 1), encoding="utf-8")
    (folder / "template.py").write_text(counting(EIGH, *WISHES), encoding="utf-8")
    (folder / "task.yml").write_text(TASK, encoding="utf-8")
    monkeypatch.setattr(captures, "ROOT", folder.parent)
    monkeypatch.setattr(captures, "PAIRS", 1)
    named = {"NCU": tools.ncu, "NVCC": make_toolkit(tmp_path / "cuda"), "GPU": "H200"}
    for name, value in {**named, "READ_ONLY": tools.variable}.items():
        monkeypatch.setenv(f"NCUBOT_RUNNER_{name}", str(value))


async def test_each_part_is_kept_and_none_is_begun_without_time(
    problem: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = {
        "solver": Call("a solver", "x", 0, 1.0),
        "inert": Call("timed", "x", 1, 1.0, timed=True),
        "long": Call("too long", "x", 1, 1e9),
    }
    monkeypatch.setattr(captures, "PARTS", parts)
    await captures.measure([*parts], 60.0, tmp_path)
    solver, inert = (
        json.loads((tmp_path / f"captures-{part}.json").read_text()) for part in ("solver", "inert")
    )
    assert (solver["captured"], solver["launches"]) == (4, 831_561)
    assert solver["share"] == pytest.approx(0.99, abs=0.001)
    assert {"plain_s", "bare_s", "hot_over_plain_and_bare"} < solver.keys()
    assert inert["with_ms"] == inert["without_ms"] == [2.0]
    assert len(inert["recorded"]) == 3
    assert "long: not begun" in capsys.readouterr().out
