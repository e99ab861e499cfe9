"""The whole check of one problem: its files in memory to a verdict. Nothing of it is run."""

from bot.leaderboards.check.cuda import follow_cuda
from bot.leaderboards.check.gpus import is_nvidia
from bot.leaderboards.check.machine import Unreadable
from bot.leaderboards.check.model import CheckResult, Finding, Verdict
from bot.leaderboards.check.python import Followed, follow
from bot.leaderboards.check.rules import judge
from bot.leaderboards.check.spec import (
    TASK,
    Grammar,
    check_booleans,
    check_values,
    grammar_of,
    takes_no_benchmark,
)
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.model import Task
from runner_client.wire import CudaEvaluator, PythonEvaluator

_NOT_EVALUATOR = {"reference.py", "task.py"}


def check_task(task: Task, gpus: tuple[str, ...] = ()) -> CheckResult:
    """Say whether `profile` gives counters for a problem; `gpus` are the competition's.

    Pure, and bounded in time whatever the files hold: what cannot be read is `unknown`.
    """
    try:
        walked = _walk(task)
        verdict, findings = judge(walked.events, _main(task))
    except Unreadable as error:
        walked = Followed()
        said = f"it cannot be checked: {error.reason}"
        verdict, findings = (
            Verdict.UNKNOWN,
            [Finding("unreadable", error.file, error.line, said)],
        )
    verdict, findings = _with_spec(task, walked, verdict, findings)
    unfit = _unfit(task, gpus or task.gpus, walked)
    if unfit:
        return CheckResult(unfit[0][0], (*(finding for _, finding in unfit), *_values(findings)))
    return CheckResult(verdict, _ordered(findings))


def _walk(task: Task) -> Followed:
    if isinstance(task.evaluator, PythonEvaluator):
        return follow(task, task.evaluator.main)
    return follow_cuda(task, task.evaluator)


def _main(task: Task) -> str:
    evaluator = task.evaluator
    return evaluator.sources[0] if isinstance(evaluator, CudaEvaluator) else evaluator.main


def _with_spec(
    task: Task, walked: Followed, verdict: Verdict, findings: list[Finding]
) -> tuple[Verdict, list[Finding]]:
    grammars = _grammars(walked)
    texts = {file.name: file.content or "" for file in task.files}
    read = {name: texts[name] for name in walked.files if name not in _NOT_EVALUATOR}
    found = [*findings, *check_values(task, grammars), *check_booleans(task, read)]
    if grammars and verdict is Verdict.NCU and takes_no_benchmark(task, grammars):
        verdict = Verdict.UNKNOWN
    return verdict, found


def _grammars(walked: Followed) -> tuple[Grammar, ...]:
    found = (
        grammar_of(event.text, event.file, event.line)
        for event in walked.events
        if event.kind is Kind.PATTERN
    )
    return tuple(one for one in found if one is not None)


def _unfit(task: Task, gpus: tuple[str, ...], walked: Followed) -> list[tuple[Verdict, Finding]]:
    """Say why no evaluator could help: ncu profiles one NVIDIA GPU."""
    found: list[tuple[Verdict, Finding]] = []
    if gpus and not any(map(is_nvidia, gpus)):
        said = f"ncu profiles NVIDIA GPUs only, and this problem is for {', '.join(gpus)[:200]}"
        mend = "list an NVIDIA GPU if it can run on one"
        found.append((Verdict.NOT_NVIDIA, Finding("gpu", TASK, None, f"{said}: {mend}")))
    elif walked.uses_hip or set(task.templates) == {"HIP"}:
        said = "ncu profiles NVIDIA GPUs, and this problem is written for HIP: port it to CUDA"
        found.append((Verdict.NOT_NVIDIA, Finding("hip", TASK, None, said)))
    if task.multi_gpu:
        said = "ncu serialises launches, so a task over several GPUs never ends under it"
        mend = "declare a problem on one GPU beside it"
        found.append((Verdict.MULTI_GPU, Finding("multi-gpu", TASK, None, f"{said}: {mend}")))
    return found


def _values(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(one for one in findings if one.file == TASK)


def _ordered(findings: list[Finding]) -> tuple[Finding, ...]:
    once = dict.fromkeys(findings)
    return tuple(sorted(once, key=lambda one: (one.file, one.line or 0)))
