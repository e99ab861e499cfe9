"""A competition YAML -> its problems, deadline precedence applied."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from bot.leaderboards.deadline import parse_deadline
from bot.leaderboards.decode import decode, fault, unknown_keys
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.files import ProblemFiles, reason_of
from bot.leaderboards.gpus import each_once
from bot.leaderboards.model import Problem
from bot.leaderboards.task import TASK_FILE, Reading, read_task
from bot.leaderboards.yaml import Document, Place

MAX_NAME = 100
"""Discord shows at most 100 characters of a choice."""
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


class _Entry(Struct):
    directory: Annotated[str, Meta(min_length=1, max_length=400)]
    name: Name
    deadline: str | None = None
    gpus: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()


class _Competition(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    problems: Annotated[list[object], Meta(max_length=1_000)]
    deadline: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A problem that cannot be loaded. `name` is what is known of its name."""

    name: str
    error: GrammarError


@dataclass(frozen=True, slots=True)
class Competition:
    """What one YAML lists: problems that loaded and those that did not, in its order.

    `problem_set` is the YAML's name without its ending. `complete` is False where an entry's name
    could not be read: then nothing can be said about what is no longer listed. `warnings` name
    file and line.
    """

    problem_set: str
    name: str
    problems: tuple[Problem | Broken, ...]
    complete: bool
    warnings: tuple[str, ...] = ()


def load_competition(file: Path, root: ProblemFiles) -> Competition:
    """Read a competition YAML and the tasks that it lists, all confined to `root`.

    Raises GrammarError where the YAML itself cannot be used; a broken problem is in the result.
    """
    try:
        document = root.document(file)
        raw = decode(document, _Competition)
        reader = _Reader(file, root, document, raw.name)
        reader.note(unknown_keys(document, _Competition))
        reader.deadline = reader.moment(("deadline",), raw.deadline)
    except (OSError, ValueError) as error:
        raise GrammarError(root.name(file), reason_of(error)) from None
    problems = tuple(reader.problem(index) for index in range(len(raw.problems)))
    return Competition(
        file.stem, raw.name, problems, reader.complete, tuple(dict.fromkeys(reader.warnings))
    )


class _Reader:
    """One competition YAML whose top could be read."""

    def __init__(self, file: Path, root: ProblemFiles, document: Document, name: str) -> None:
        self.file = file
        self.where = root.name(file)
        self.root = root
        self.document = document
        self.name = name
        self.deadline: datetime | None = None
        self.complete = True
        self.warnings: list[str] = []

    def problem(self, index: int) -> Problem | Broken:
        place = ("problems", index)
        try:
            entry = decode(self.document, _Entry, place)
            self.check_names(entry, place)
        except ValueError as error:
            self.complete = False
            return Broken(f"problems[{index}]", GrammarError(self.where, reason_of(error)))
        try:
            return self.loaded(entry, place)
        except GrammarError as error:
            return Broken(entry.name, error)
        except (OSError, ValueError) as error:
            return Broken(entry.name, GrammarError(self.where, reason_of(error)))

    def loaded(self, entry: _Entry, place: Place) -> Problem:
        self.note(unknown_keys(self.document, _Entry, place))
        own = self.moment((*place, "deadline"), entry.deadline)
        reading = self.task(entry, place)
        gpus = each_once(entry.gpus or reading.task.gpus)
        if not gpus:
            raise fault(
                self.document, (*place, "gpus"), "expected at least one GPU, here or in task.yml"
            )
        return Problem(
            name=entry.name,
            competition=self.name,
            problem_set=self.file.stem,
            directory=entry.directory,
            deadline=own if own is not None else self.deadline,
            gpus=gpus,
            task=reading.task,
        )

    def task(self, entry: _Entry, place: Place) -> Reading:
        directory = self.file.parent / entry.directory
        try:
            self.root.inside(directory)
        except (OSError, ValueError) as error:
            words = f"`{entry.directory}` {reason_of(error)}"
            raise fault(self.document, (*place, "directory"), words) from None
        reading = read_task(directory, self.root)
        where = self.root.name(directory / TASK_FILE)
        self.warnings += (f"{where}: {warning}" for warning in reading.warnings)
        return reading

    def moment(self, place: Place, text: str | None) -> datetime | None:
        try:
            return parse_deadline(text)
        except ValueError as error:
            raise fault(self.document, place, str(error)) from None

    def note(self, warnings: Iterable[str]) -> None:
        self.warnings += (f"{self.where}: {warning}" for warning in warnings)

    def check_names(self, entry: _Entry, place: Place) -> None:
        for name in (entry.name, *entry.gpus):
            if not name.isprintable() or name != name.strip():
                words = f"expected a name without control characters or blanks around it: {name!r}"
                raise fault(self.document, place, words)
