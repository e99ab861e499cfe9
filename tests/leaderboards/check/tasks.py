"""Tasks made of a few lines of evaluator, and what the check says of them."""

from textwrap import dedent

from bot.leaderboards.check.model import CheckResult
from bot.leaderboards.check.task import check_task
from bot.leaderboards.model import Case, ProblemFile, Task
from runner_client.wire import CudaEvaluator, PythonEvaluator

HEAD = """\
import os
import sys
import torch
from submission import custom_kernel

"""
TAIL = """
if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
"""


def python_task(source: str, *cases: Case, **files: str) -> Task:
    """Make a task with `source` as eval.py; `files` are further modules by name."""
    others = tuple(ProblemFile(f"{name}.py", dedent(text)) for name, text in files.items())
    return Task(
        files=(ProblemFile("eval.py", source), ProblemFile("submission.py", None), *others),
        evaluator=PythonEvaluator(main="eval.py"),
        description="",
        benchmarks=cases,
    )


def whole(body: str, **files: str) -> CheckResult:
    """Check an evaluator that is given as a whole."""
    return check_task(python_task(dedent(body), **files))


def main(body: str, above: str = "", **files: str) -> CheckResult:
    """Check an evaluator whose `main(mode)` has the lines of `body`."""
    lines = "".join(f"    {line}\n" for line in dedent(body).splitlines())
    source = f"{HEAD}{dedent(above)}\ndef main(mode):\n{lines}{TAIL}"
    return check_task(python_task(source, **files))


def cuda_task(source: str, *cases: Case, **headers: str) -> Task:
    """Make a task with `source` as eval.cu; `headers` are further files, named NAME.h."""
    others = tuple(ProblemFile(f"{name}.h", text) for name, text in headers.items())
    return Task(
        files=(ProblemFile("eval.cu", source), ProblemFile("submission.cu", None), *others),
        evaluator=CudaEvaluator(sources=("eval.cu", "submission.cu")),
        description="",
        benchmarks=cases,
    )


def cuda(source: str, **headers: str) -> CheckResult:
    """Check a CUDA evaluator."""
    return check_task(cuda_task(dedent(source), **headers))


def rules(result: CheckResult) -> set[str]:
    """Return the names of what was found."""
    return {finding.rule for finding in result.findings}
