"""What a Python evaluator does in `profile` mode under ncu, by following its source."""

from dataclasses import dataclass
from pathlib import PurePath

from bot.leaderboards.check.machine import Machine, Unreadable
from bot.leaderboards.check.statements import execute
from bot.leaderboards.check.trace import Event, Exhausted
from bot.leaderboards.model import Task

MAX_TOTAL = 2_000_000
TOO_DEEP = "it is nested too deeply to be followed"
TOO_MUCH = "it branches too much to be followed"


@dataclass(frozen=True, slots=True)
class Followed:
    """The events of one walk, and the files that it came through."""

    events: tuple[Event, ...] = ()
    files: tuple[str, ...] = ()
    uses_hip: bool = False


def follow(task: Task, main: str) -> Followed:
    """Follow the evaluator from its first line. Raises Unreadable."""
    machine = Machine(_modules(task), PurePath(task.submission_name).stem, execute)
    try:
        machine.module(PurePath(main).stem, called="__main__")
    except RecursionError:
        raise Unreadable(main, None, TOO_DEEP) from None
    except Exhausted:
        raise Unreadable(main, None, TOO_MUCH) from None
    return Followed(
        tuple(machine.trace.events), tuple(env.file for env in machine.modules.values())
    )


def _modules(task: Task) -> dict[str, str]:
    found = {
        PurePath(file.name).stem: file.content
        for file in task.files
        if file.content is not None and file.name.endswith(".py")
    }
    if sum(map(len, found.values())) > MAX_TOTAL:
        raise Unreadable("task.yml", None, f"its files have more than {MAX_TOTAL:,} characters")
    return found
