"""The file that a submission starts from, with the line that names its leaderboard."""

import re
from dataclasses import dataclass

from bot.jobs.directives import read_directives
from bot.jobs.errors import TemplateMissing
from bot.leaderboards.model import Leaderboard
from runner_client.wire import PythonEvaluator

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class StarterFile:
    """A file to attach, and one sentence about it."""

    name: str
    text: str
    words: str


def starter_file(board: Leaderboard, language: str | None) -> StarterFile:
    """Return the template in `language`, or the first one. Raises TemplateMissing."""
    templates = board.task.templates
    chosen = language or next(iter(templates), None)
    if chosen is None or chosen not in templates:
        raise TemplateMissing(board.name, chosen, tuple(templates))
    python = isinstance(board.task.evaluator, PythonEvaluator)
    ending = ".py" if python else ".cu"
    others = [name for name in templates if name != chosen]
    also = f" There is one in {', '.join(others)} too." if others else ""
    return StarterFile(
        name=(_UNSAFE.sub("_", board.name).strip("._-") or "submission") + ending,
        text=_addressed(templates[chosen], board.name, python=python),
        words=f"Starter file of {board.name} in {chosen}; attach yours to /profile.{also}",
    )


def _addressed(text: str, name: str, *, python: bool) -> str:
    """Let the file itself name its leaderboard, unless it does, or the name has blanks."""
    if read_directives(text, python=python).leaderboard or " " in name:
        return text
    return f"{'#' if python else '//'}!POPCORN leaderboard {name}\n{text}"
