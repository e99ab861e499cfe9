"""What a sync does to one leaderboard: the stored state and the declared one -> a decision. Pure.

A preview and a sync that acts ask this one function.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from msgspec import Struct, structs

from bot.leaderboards.model import Case, Leaderboard, Problem, ProblemFile, Task, spec_line

CONFIRM = "needs confirmation"
MEANING = ("files", "config", "tests", "benchmarks", "ranking_by", "seed", "multi_gpu")
"""Fields of a task that change what its old results mean; applied when they are confirmed."""
_TASK_FIELDS = {
    "files": "files",
    "evaluator": "config",
    "tests": "tests",
    "benchmarks": "benchmarks",
    "ranking_by": "ranking_by",
    "seed": "seed",
    "multi_gpu": "multi_gpu",
    "description": "description",
    "test_timeout": "test_timeout",
    "benchmark_timeout": "benchmark_timeout",
    "ranked_timeout": "ranked_timeout",
    "templates": "templates",
    "gpus": "gpus",
}
"""Attribute of Task to the name that authors know."""
_BOARD_FIELDS = ("name", "competition", "problem_set", "directory", "deadline", "gpus")


class Change(StrEnum):
    """What a sync did to a leaderboard."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class FieldChange(Struct, frozen=True):
    """A field that differs, and how: `H200 → H200, B200`."""

    field: str
    detail: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a leaderboard.

    `problem` is what to store, with the stored value of everything that is held back. `commit` is
    the one whose files and shapes that is.
    """

    change: Change
    problem: Problem
    source: str
    commit: str | None
    applied: tuple[FieldChange, ...] = ()
    held: tuple[FieldChange, ...] = ()
    reason: str = CONFIRM


def decide(
    stored: Leaderboard | None, problem: Problem, source: str, commit: str | None, *, force: bool
) -> Decision:
    """Compare what is stored with what is declared.

    Without `force` nothing is done to a leaderboard of another source, and what changes the
    meaning of old results is held back. One that an admin closed stays closed.
    """
    if stored is None:
        return Decision(Change.CREATED, problem, source, commit)
    found = tuple(differences(stored, problem, source))
    if force:
        return Decision(_change(found), problem, source, commit, applied=found)
    if stored.source not in {None, source}:
        return _foreign(stored, found)
    held = tuple(change for change in found if change.field in MEANING)
    applied = tuple(change for change in found if change.field not in MEANING)
    if held:
        problem = structs.replace(problem, task=_mixed(stored.task, problem.task))
        commit = stored.commit
    return Decision(_change(applied), problem, source, commit, applied=applied, held=held)


def _foreign(stored: Leaderboard, found: tuple[FieldChange, ...]) -> Decision:
    source = stored.source or ""
    reason = f"{CONFIRM}, it comes from {source}"
    return Decision(
        Change.UNCHANGED, _as_stored(stored), source, stored.commit, held=found, reason=reason
    )


def _change(applied: tuple[FieldChange, ...]) -> Change:
    return Change.UPDATED if applied else Change.UNCHANGED


def differences(stored: Leaderboard, problem: Problem, source: str) -> Iterator[FieldChange]:
    """Name every field in which the declared problem differs from the stored one."""
    if stored.source not in {None, source}:
        yield FieldChange("source", f"{stored.source} → {source}")
    for field in _BOARD_FIELDS:
        was, now = getattr(stored, field), getattr(problem, field)
        if was != now and not _is_unknown(stored, field):
            yield FieldChange(field, f"{_words(was)} → {_words(now)}")
    yield from task_differences(stored.task, problem.task)
    if stored.closed and stored.closed_by is None:
        yield FieldChange("closed", "closed → open")


def task_differences(stored: Task, declared: Task) -> Iterator[FieldChange]:
    """Name every field in which two tasks differ."""
    for attribute, field in _TASK_FIELDS.items():
        was, now = getattr(stored, attribute), getattr(declared, attribute)
        # 1 and True are equal to Python, but not to an evaluator that reads them as text.
        is_cases = attribute in {"tests", "benchmarks"}
        if was != now or (is_cases and repr(was) != repr(now)):
            yield FieldChange(field, _detail(attribute, was, now))


def _is_unknown(stored: Leaderboard, field: str) -> bool:
    """Leaderboards of the first release did not say which YAML and folder they came from."""
    return field in {"problem_set", "directory"} and not getattr(stored, field)


def _mixed(stored: Task, declared: Task) -> Task:
    held = [attribute for attribute, field in _TASK_FIELDS.items() if field in MEANING]
    return structs.replace(declared, **{name: getattr(stored, name) for name in held})


def _as_stored(stored: Leaderboard) -> Problem:
    return Problem(
        name=stored.name,
        competition=stored.competition,
        problem_set=stored.problem_set,
        directory=stored.directory,
        deadline=stored.deadline,
        gpus=stored.gpus,
        task=stored.task,
    )


def _detail(attribute: str, was: object, now: object) -> str:
    match attribute:
        case "files":
            return _files(was, now)
        case "tests" | "benchmarks":
            return _cases(was, now)
        case "templates":
            return ", ".join(now) if isinstance(now, dict) and now else "none"
        case "description" | "evaluator":
            return "changed"
        case _:
            return f"{_words(was)} → {_words(now)}"


def _files(was: object, now: object) -> str:
    old, new = _texts(was), _texts(now)
    parts = {
        "changed": [name for name in new if name in old and new[name] != old[name]],
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
    }
    said = [f"{', '.join(names)} {verb}" for verb, names in parts.items() if names]
    return "; ".join(said) or "another order"


def _texts(files: object) -> dict[str, str | None]:
    every = files if isinstance(files, tuple) else ()
    return {file.name: file.content for file in every if isinstance(file, ProblemFile)}


def _cases(was: object, now: object) -> str:
    old, new = _specs(was), _specs(now)
    if len(old) != len(new):
        return f"{len(old)} → {len(new)}"
    changed = [str(index) for index, spec in enumerate(new) if spec != old[index]]
    return f"changed at {', '.join(changed[:20])}" if changed else "other kinds of values"


def _specs(cases: object) -> Sequence[str]:
    every: tuple[Case, ...] = cases if isinstance(cases, tuple) else ()
    return [spec_line(case) for case in every]


def _words(value: object) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M UTC")
    if isinstance(value, tuple):
        return ", ".join(str(entry) for entry in value) or "none"
    return "none" if value is None or value == "" else str(value)
