"""Real evaluator processes: modes without ncu, CUDA problems, and submissions that misbehave."""

import os
from pathlib import Path

import pytest

from runner.settings import RunnerSettings
from runner_client.wire import BenchmarkStatus, FailureKind, Mode
from tests.runner.api import Api
from tests.runner.processes import of_jobs
from tests.standin.problem import GOOD, WRONG, cuda_job, job

MODES = (Mode.TEST, Mode.BENCHMARK)


@pytest.mark.parametrize("mode", MODES)
async def test_every_case_runs_in_a_process_of_its_own(api: Api, mode: Mode) -> None:
    result = await api.run(job(mode=mode, count=2))
    assert [one.status for one in result.benchmarks] == [BenchmarkStatus.SUCCEEDED] * 2
    assert [one.index for one in result.benchmarks] == [0, 1]
    assert all(one.check is not None and one.check.passed for one in result.benchmarks)
    specs = [value for one in result.benchmarks for key, value in one.log.items() if "spec" in key]
    assert specs == [one.spec for one in result.benchmarks]
    assert all(one.artifacts == () for one in result.benchmarks)


@pytest.mark.parametrize("mode", MODES)
async def test_a_wrong_answer_fails_without_ncu(api: Api, mode: Mode) -> None:
    result = await api.run_one(job(WRONG, mode))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.WRONG_ANSWER
    assert result.failure.detail == "not in capitals"


RAISES = "def custom_kernel(line):\n    raise ValueError('bad shape')\n"
IMPORT = "import no_such_module\n"
EXITS = "import os\ndef custom_kernel(line):\n    os._exit(7)\n"
SILENT = "import os\ndef custom_kernel(line):\n    os._exit(0)\n"
DIES = "import os\ndef custom_kernel(line):\n    os.kill(os.getpid(), 11)\n"


@pytest.mark.parametrize(
    ("source", "kind", "detail"),
    [
        (RAISES, FailureKind.SUBMISSION_ERROR, "ValueError: bad shape (submission.py:2)"),
        (
            IMPORT,
            FailureKind.SUBMISSION_ERROR,
            "ModuleNotFoundError: No module named 'no_such_module' (submission.py:1)",
        ),
        ("def custom_kernel(:\n", FailureKind.SUBMISSION_ERROR, "SyntaxError"),
        (EXITS, FailureKind.SUBMISSION_ERROR, "ended with status 7"),
        (DIES, FailureKind.SUBMISSION_ERROR, "ended by signal 11"),
        (SILENT, FailureKind.EVALUATOR_ERROR, "the evaluator left no verdict"),
    ],
)
async def test_the_submissions_own_failure_is_named(
    api: Api, source: str, kind: FailureKind, detail: str
) -> None:
    result = await api.run_one(job(source, Mode.BENCHMARK))
    assert result.failure is not None
    assert result.failure.kind is kind
    assert detail in result.failure.detail


async def test_the_same_under_ncu(api: Api) -> None:
    result = await api.run_one(job(RAISES))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.SUBMISSION_ERROR
    assert result.failure.detail == "ValueError: bad shape (submission.py:2)"
    assert "ValueError: bad shape" in result.output_tail


async def test_a_program_that_opens_no_range_is_no_success(api: Api) -> None:
    result = await api.run_one(job(GOOD))
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is FailureKind.NOTHING_IN_RANGE
    assert result.check is not None
    assert result.check.passed


FORGES = """
import os, sys
def custom_kernel(line):
    print('==PROF== Profiling "forged" - 0 (999/1000): 0%....100% - 1 passes', flush=True)
    print('"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"')
    os.write(int(os.environ.get("POPCORN_FD", "1")), b"check: pass\\n")
    return line
"""


async def test_forged_lines_are_no_counters(api: Api) -> None:
    result = await api.run_one(job(FORGES))
    assert result.status is BenchmarkStatus.FAILED
    assert result.kernels == 0
    assert result.check is not None
    assert not result.check.passed


PLANTS = """
import glob, os, sys
for argument in open("/proc/%d/cmdline" % os.getppid()).read().split(chr(0)):
    if argument.startswith("--export="):
        os.symlink("/etc/passwd", argument.removeprefix("--export="))
def custom_kernel(line):
    return line.upper()
"""


async def test_a_link_in_place_of_the_report_is_not_followed(api: Api) -> None:
    result = await api.run_one(job(PLANTS))
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is FailureKind.SUBMISSION_ERROR
    assert result.failure.detail.startswith("the report is not a plain file")
    assert result.artifacts == ()


TELLS = """
import os
def custom_kernel(line):
    print("ENVIRONMENT", sorted(os.environ), os.environ.get("POPCORN_NCU"), flush=True)
    return line.upper()
"""


async def test_the_environment_is_an_allow_list(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCUBOT_RUNNER_TOKEN", "s3cret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    plain = await api.run_one(job(TELLS, Mode.TEST, seed=42))
    cuda = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
    names = (*cuda, "HOME", "LC_ALL", "PATH", "POPCORN_FD", "POPCORN_SEED", "PWD", "TMPDIR")
    assert f"ENVIRONMENT {[*names]} None" in plain.output_tail
    profiled = await api.run_one(job(TELLS))
    assert "'POPCORN_NCU'" in profiled.output_tail
    assert profiled.output_tail.count("] 1") == 1


async def test_the_import_beforehand_shares_home_and_is_not_profiled(api: Api) -> None:
    source = (
        "import os, pathlib\n"
        "cache = pathlib.Path.home() / 'cache'\n"
        "if __name__ == '__main__':\n"
        "    assert 'POPCORN_NCU' not in os.environ and os.environ['POPCORN_SEED'] == '1'\n"
        "    os.write(int(os.environ['POPCORN_FD']), b'x: y\\n')\n"
        "    cache.write_text('warm')\n"
        "    raise SystemExit(3)\n"
        "def custom_kernel(line):\n"
        "    return line.upper() if cache.read_text() == 'warm' else line\n"
    )
    assert (await api.run_one(job(source, Mode.TEST))).failure is None


HANGS = "import time\ndef custom_kernel(line):\n    time.sleep(600)\n"


@pytest.mark.parametrize("mode", [Mode.BENCHMARK, Mode.PROFILE])
async def test_a_submission_that_never_returns_meets_its_limit(api: Api, mode: Mode) -> None:
    limit = 1.0 if mode is Mode.BENCHMARK else 0.1
    result = await api.run_one(job(HANGS, mode, timeout_s=limit))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.TIME_LIMIT


HOLDS = """
import pathlib, subprocess
def custom_kernel(line):
    child = subprocess.Popen(["sleep", "600"], close_fds=False)
    print("CHILD", child.pid, flush=True)
    return line.upper()
"""


async def test_a_child_that_holds_the_pipes_is_ended_and_not_waited_for(
    api: Api, settings: RunnerSettings
) -> None:
    result = await api.run_one(job(HOLDS, Mode.TEST))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert "CHILD " in result.output_tail
    assert of_jobs(settings.folder / "work") == []


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


FLOODS = """
import os
def custom_kernel(line):
    for _ in range(200):
        os.write(1, b"x" * 65536)
        os.write(2, b"\\xff" * 65536)
    return line.upper()
"""


async def test_megabytes_of_output_are_drained_and_cut(api: Api) -> None:
    result = await api.run_one(job(FLOODS, Mode.TEST))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert len(result.output_tail) <= 8_192


async def test_a_cuda_problem_is_compiled_first(api: Api) -> None:
    assert (await api.run_one(cuda_job("// fine\n", Mode.TEST))).failure is None
    captured = await api.run_one(cuda_job("// standin: ok-native-cuda\n"))
    assert captured.status is BenchmarkStatus.SUCCEEDED
    assert captured.kernels == 1


async def test_a_compile_error_is_shown_and_ends_the_job(api: Api) -> None:
    result = await api.run(cuda_job("// standin-compile-error\n"))
    assert result.benchmarks == ()
    assert result.failure is not None
    assert result.failure.kind is FailureKind.COMPILE_ERROR
    assert result.failure.detail.startswith('submission.cu(3): error: expected a ";"')


async def test_nothing_is_left_of_a_job_but_its_results(api: Api, settings: RunnerSettings) -> None:
    spec = job(mode=Mode.TEST)
    await api.run(spec)
    assert list((settings.folder / "work").iterdir()) == []
    kept = sorted(path.name for path in (settings.folder / "jobs" / spec.id).iterdir())
    assert kept == ["artifacts", "events.jsonl", "result.json", "spec.json"]
