"""What the doctor says of the census on machines that cannot make one."""

import shutil
from pathlib import Path

import pytest

from runner.health.census import census_finding
from runner.settings import RunnerSettings, SandboxName
from runner_client.wire import Level


def settings_of(
    toolkit: Path, data: Path, evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> RunnerSettings:
    problem = data / "problem"
    problem.mkdir(parents=True)
    (problem / "submission.py").write_text("", encoding="utf-8")
    (problem / "eval.py").write_text(evaluator, encoding="utf-8")
    monkeypatch.setattr("runner.health.selfcheck.PROBLEM", problem)
    nvcc = str(toolkit / "bin" / "nvcc")
    python = shutil.which("python3") or ""
    return RunnerSettings(data=data, nvcc=nvcc, python=python, sandbox=SandboxName.NONE)


COUNTED = """
import ctypes, os
it = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
it.InitializeInjectionNvtx2(it.stub_tables)
it.stub_push(ctypes.c_char(b"a"), b"custom_kernel", None)
it.stub_launch(b"k", 1, 1, ctypes.c_uint64(9), 0)
it.stub_pop(ctypes.c_char(b"a"))
"""


async def test_a_kernel_is_counted(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(toolkit, tmp_path, COUNTED, monkeypatch)
    found = await census_finding(settings, tmp_path / "scratch")
    assert found.level is Level.OK
    assert found.text == "kernels are counted by a library built for CUDA 13.0"
    assert list((tmp_path / "scratch").iterdir()) == []


async def test_a_program_that_is_not_counted(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(toolkit, tmp_path, "raise SystemExit('no GPU here')", monkeypatch)
    found = await census_finding(settings, tmp_path / "scratch")
    assert found.level is Level.WARNING
    assert found.text == "not available: the tiny kernel was not counted (no GPU here)"
    assert "`hot` captures fall back" in found.mend


async def test_no_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path / "absent", tmp_path, "", monkeypatch)
    found = await census_finding(settings, tmp_path / "scratch")
    assert found.level is Level.WARNING
    assert found.text.startswith("not available: `")
