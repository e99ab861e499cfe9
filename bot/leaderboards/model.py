"""Problems as the competition declares them, and leaderboards as the bot serves them."""

from datetime import datetime

from msgspec import Struct

from bot.leaderboards.check.model import CheckResult
from runner_client.wire import Evaluator

CaseValue = int | str | bool | list[int]
Case = dict[str, CaseValue]
"""One entry of `tests` or `benchmarks`, in the order of the YAML."""


class ProblemFile(Struct, frozen=True):
    """One file of a task; `content` is None for the entry that stands for the submission."""

    name: str
    content: str | None


class Task(Struct, frozen=True, kw_only=True):
    """A task.yml with the text of its files. Times in seconds."""

    files: tuple[ProblemFile, ...]
    evaluator: Evaluator
    description: str
    tests: tuple[Case, ...] = ()
    benchmarks: tuple[Case, ...] = ()
    test_timeout: float = 180
    benchmark_timeout: float = 180
    ranked_timeout: float = 180
    ranking_by: str = "last"
    templates: dict[str, str] = {}
    """Language (`Python`, `CUDA`, ...) to the starter file's text."""
    gpus: tuple[str, ...] = ()
    multi_gpu: bool = False
    seed: int | None = None

    @property
    def submission_name(self) -> str:
        """The name under which the evaluator wants the user's file."""
        return next(file.name for file in self.files if file.content is None)


class Problem(Struct, frozen=True, kw_only=True):
    """One entry of a competition YAML with its task, deadline precedence already applied."""

    name: str
    competition: str
    problem_set: str = ""
    """The competition YAML's name without its ending."""
    directory: str
    deadline: datetime | None
    gpus: tuple[str, ...]
    task: Task


class Leaderboard(Struct, frozen=True, kw_only=True):
    """An open or closed leaderboard in its newest version, as commands and autocomplete see it.

    `source` is what it was synced from, None where that is not known; `commit` the one whose files
    and shapes it has. `closed_by` is the admin who closed it, None where a sync did. `check` says
    whether its evaluator can give counters, None where that was not looked at; with
    `check_overridden` an admin lets profiles run whatever it says.
    """

    id: int
    version_id: int
    name: str
    competition: str
    deadline: datetime | None
    closed: bool
    gpus: tuple[str, ...]
    commit: str | None
    task: Task
    problem_set: str = ""
    directory: str = ""
    source: str | None = None
    closed_by: int | None = None
    check: CheckResult | None = None
    check_overridden: bool = False


def spec_line(case: Case) -> str:
    """The line that an evaluator reads: `k: v` joined with `; `, values through str()."""
    return "; ".join(f"{key}: {value}" for key, value in case.items())
