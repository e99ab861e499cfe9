"""What becomes of a leaderboard: every field, held back or applied, and named."""

from datetime import UTC, datetime

import msgspec
import pytest

from bot.leaderboards.changes import MEANING, Change, Decision, decide
from bot.leaderboards.model import Leaderboard, Problem, ProblemFile, Task
from runner_client.wire import PythonEvaluator

TASK = Task(
    files=(
        ProblemFile("eval.py", "print()"),
        ProblemFile("reference.py", "x"),
        ProblemFile("submission.py", None),
    ),
    evaluator=PythonEvaluator(main="eval.py"),
    description="a task",
    tests=({"n": 8},),
    benchmarks=({"n": 32}, {"n": 64, "masked": True}),
    templates={"Python": "pass"},
)
QR = Problem(
    name="qr",
    competition="linalg",
    problem_set="linalg",
    directory="linalg/qr",
    deadline=datetime(2026, 9, 1, tzinfo=UTC),
    gpus=("H200",),
    task=TASK,
)
STORED = Leaderboard(
    id=1,
    version_id=1,
    name="qr",
    competition="linalg",
    problem_set="linalg",
    directory="linalg/qr",
    deadline=QR.deadline,
    closed=False,
    gpus=QR.gpus,
    source="somewhere",
    commit="a" * 40,
    task=TASK,
)


def decided(problem: Problem, stored: Leaderboard = STORED, *, force: bool = False) -> Decision:
    return decide(stored, problem, "somewhere", "b" * 40, force=force)


def of_task(**changes: object) -> Problem:
    return msgspec.structs.replace(QR, task=msgspec.structs.replace(TASK, **changes))


def test_the_same_is_unchanged_and_belongs_to_the_new_commit() -> None:
    decision = decided(QR)
    assert (decision.change, decision.applied, decision.held) == (Change.UNCHANGED, (), ())
    assert decision.commit == "b" * 40


@pytest.mark.parametrize(
    ("problem", "field", "detail"),
    [
        (of_task(description="other"), "description", "changed"),
        (of_task(test_timeout=60), "test_timeout", "180 → 60"),
        (of_task(benchmark_timeout=60), "benchmark_timeout", "180 → 60"),
        (of_task(ranked_timeout=60), "ranked_timeout", "180 → 60"),
        (of_task(templates={"Python": "x", "Triton": "y"}), "templates", "Python, Triton"),
        (of_task(templates={}), "templates", "none"),
        (of_task(gpus=("B200",)), "gpus", "none → B200"),
        (msgspec.structs.replace(QR, gpus=("H200", "B200")), "gpus", "H200 → H200, B200"),
        (msgspec.structs.replace(QR, deadline=None), "deadline", "2026-09-01 00:00 UTC → none"),
        (msgspec.structs.replace(QR, name="QR"), "name", "qr → QR"),
        (msgspec.structs.replace(QR, competition="other"), "competition", "linalg → other"),
        (msgspec.structs.replace(QR, problem_set="other"), "problem_set", "linalg → other"),
        (msgspec.structs.replace(QR, directory="x/qr"), "directory", "linalg/qr → x/qr"),
    ],
)
def test_what_leaves_results_comparable_is_applied(
    problem: Problem, field: str, detail: str
) -> None:
    decision = decided(problem)
    assert decision.change is Change.UPDATED
    assert [(change.field, change.detail) for change in decision.applied] == [(field, detail)]
    assert (decision.held, decision.problem, decision.commit) == ((), problem, "b" * 40)


FILES = (ProblemFile("eval.py", "new"), ProblemFile("submission.py", None), ProblemFile("a", "b"))


@pytest.mark.parametrize(
    ("changes", "field", "detail"),
    [
        ({"files": FILES}, "files", "eval.py changed; a added; reference.py removed"),
        ({"files": TASK.files[::-1]}, "files", "another order"),
        ({"evaluator": PythonEvaluator(main="x.py")}, "config", "changed"),
        ({"tests": ()}, "tests", "1 → 0"),
        ({"benchmarks": ({"n": 32}, {"n": 65, "masked": True})}, "benchmarks", "changed at 1"),
        ({"benchmarks": ({"n": 32}, {"masked": True, "n": 64})}, "benchmarks", "changed at 1"),
        ({"benchmarks": ({"n": 32}, {"n": 64, "masked": 1})}, "benchmarks", "changed at 1"),
        ({"benchmarks": ({"n": "32"}, TASK.benchmarks[1])}, "benchmarks", "other kinds of values"),
        ({"ranking_by": "geom"}, "ranking_by", "last → geom"),
        ({"seed": 3}, "seed", "none → 3"),
        ({"multi_gpu": True}, "multi_gpu", "False → True"),
    ],
)
def test_what_changes_the_meaning_of_results_waits_for_a_confirmation(
    changes: dict[str, object], field: str, detail: str
) -> None:
    problem = of_task(**changes)
    decision = decided(problem)
    assert field in MEANING
    assert decision.change is Change.UNCHANGED
    assert [(change.field, change.detail) for change in decision.held] == [(field, detail)]
    assert (decision.reason, decision.problem, decision.commit) == (
        "needs confirmation",
        QR,
        STORED.commit,
    )
    confirmed = decided(problem, force=True)
    assert (confirmed.change, confirmed.problem) == (Change.UPDATED, problem)
    assert (confirmed.held, confirmed.commit) == ((), "b" * 40)


def test_of_both_kinds_at_once_one_is_applied_and_the_other_waits() -> None:
    decision = decided(of_task(description="new", seed=3))
    assert decision.change is Change.UPDATED
    assert [change.field for change in decision.applied] == ["description"]
    assert [change.field for change in decision.held] == ["seed"]
    assert (decision.problem.task.description, decision.problem.task.seed) == ("new", None)
    assert decision.commit == STORED.commit


def test_another_sources_leaderboard_is_left_alone_until_it_is_confirmed() -> None:
    stored = msgspec.structs.replace(STORED, source="elsewhere")
    problem = msgspec.structs.replace(QR, deadline=None)
    decision = decided(problem, stored)
    assert decision.change is Change.UNCHANGED
    assert decision.reason == "needs confirmation, it comes from elsewhere"
    assert [change.field for change in decision.held] == ["source", "deadline"]
    assert (decision.problem, decision.source, decision.commit) == (QR, "elsewhere", "a" * 40)
    assert decided(problem, stored, force=True).source == "somewhere"


def test_a_leaderboard_of_the_first_release_is_adopted_in_silence() -> None:
    stored = msgspec.structs.replace(STORED, source=None, problem_set="", directory="")
    decision = decided(QR, stored)
    assert (decision.change, decision.source) == (Change.UNCHANGED, "somewhere")


def test_what_a_sync_closed_opens_again_and_what_an_admin_closed_does_not() -> None:
    closed = msgspec.structs.replace(STORED, closed=True)
    assert [change.field for change in decided(QR, closed).applied] == ["closed"]
    by_admin = msgspec.structs.replace(closed, closed_by=7)
    assert decided(QR, by_admin).change is Change.UNCHANGED
    assert decided(QR, by_admin, force=True).change is Change.UNCHANGED


def test_a_new_one_is_created() -> None:
    assert decide(None, QR, "somewhere", None, force=False).change is Change.CREATED
