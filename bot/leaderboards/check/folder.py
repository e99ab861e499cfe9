"""The problems below a path, each with its check: what `ncubot check` is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from bot.leaderboards.check.model import Finding, Verdict
from bot.leaderboards.check.task import check_task
from bot.leaderboards.competition import Broken, Competition, load_competition
from bot.leaderboards.errors import GrammarError, SourceError
from bot.leaderboards.files import ProblemFiles
from bot.leaderboards.model import Problem, Task
from bot.leaderboards.reading import Fault, read_folder
from bot.leaderboards.task import TASK_FILE, load_task

MAX_CLIMB = 4
"""How many folders above a problem its competition YAML is looked for."""


class CheckedProblem(Struct, frozen=True):
    """One problem's check; encodes to an entry of `ncubot check --format json`."""

    leaderboard: str
    directory: str
    profile: Verdict
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Located:
    """A problem found by its folder; `listed` is its entry in a competition YAML, if it has one."""

    name: str
    directory: str
    task: Task
    listed: Problem | None

    @property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that the problem is for."""
        return self.listed.gpus if self.listed else self.task.gpus


def check_path(path: Path) -> tuple[CheckedProblem, ...]:
    """Check the problem at `path`, or all that the competition YAMLs at or below it list.

    A problem that cannot be loaded is `unknown`. Raises SourceError, GrammarError.
    """
    if path.name == TASK_FILE and path.is_file():
        path = path.parent
    if (path / TASK_FILE).is_file():
        found = locate(path)
        return (_checked(found.name, found.directory, found.task, found.gpus),)
    if path.is_file():
        return tuple(_competition(load_competition(path, ProblemFiles(path.parent))))
    reading = read_folder(path, str(path))
    faults = [_fault(fault) for fault in reading.faults]
    return (*(one for each in reading.competitions for one in _competition(each)), *faults)


def locate(directory: Path) -> Located:
    """Load a problem by its folder. Raises GrammarError, SourceError."""
    if not directory.is_dir():
        raise SourceError(str(directory), "no such folder")
    listed = _listed(directory.resolve())
    if listed is not None:
        return Located(listed.name, listed.directory, listed.task, listed)
    # Shared evaluators lie beside the problem's folder: `source: ../eval.py`.
    task = load_task(directory, _root(directory.resolve()))
    return Located(directory.resolve().name, str(directory), task, None)


def _root(directory: Path) -> Path:
    """Return the checkout that a folder belongs to, else the folder around it."""
    above = list(directory.parents)[:MAX_CLIMB]
    return next((one for one in above if (one / ".git").exists()), directory.parent)


def _listed(directory: Path) -> Problem | None:
    for above in list(directory.parents)[:MAX_CLIMB]:
        for file in sorted({*above.glob("*.yaml"), *above.glob("*.yml")}):
            try:
                competition = load_competition(file, ProblemFiles(above))
            except GrammarError:
                continue
            for problem in competition.problems:
                if isinstance(problem, Problem) and _is_at(above / problem.directory, directory):
                    return problem
    return None


def _is_at(one: Path, other: Path) -> bool:
    return one.resolve() == other


def _competition(competition: Competition) -> Iterator[CheckedProblem]:
    for problem in competition.problems:
        if isinstance(problem, Broken):
            yield _broken(problem.name, problem.error)
        else:
            yield _checked(problem.name, problem.directory, problem.task, problem.gpus)


def _checked(name: str, directory: str, task: Task, gpus: tuple[str, ...]) -> CheckedProblem:
    result = check_task(task, gpus)
    return CheckedProblem(name, directory, result.profile, result.findings)


def _fault(fault: Fault) -> CheckedProblem:
    return _broken(fault.file, fault.error)


def _broken(name: str, error: GrammarError) -> CheckedProblem:
    finding = Finding("grammar", error.file, None, error.reason)
    return CheckedProblem(name, "", Verdict.UNKNOWN, (finding,))
