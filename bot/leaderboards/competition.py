"""A competition YAML -> its problems, deadline precedence applied."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from bot.leaderboards.deadline import parse_deadline
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.model import Problem
from bot.leaderboards.task import load_task, reason_of, relative
from bot.leaderboards.yaml import read_yaml

Name = Annotated[str, Meta(min_length=1, max_length=100)]
"""Discord shows at most 100 characters of a choice."""


class _Entry(Struct, forbid_unknown_fields=True):
    directory: Annotated[str, Meta(min_length=1, max_length=400)]
    name: Name
    deadline: str | None = None
    gpus: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()


class _Competition(Struct, forbid_unknown_fields=True):
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

    `complete` is False where an entry's name could not be read: then nothing can be said about
    what is no longer listed.
    """

    name: str
    problems: tuple[Problem | Broken, ...]
    complete: bool


def load_competition(file: Path, root: Path) -> Competition:
    """Read a competition YAML and the tasks that it lists, all confined to `root`.

    Raises GrammarError where the YAML itself cannot be used; a broken problem is in the result.
    """
    where = relative(file, root)
    try:
        _confined(file, root)
        raw = msgspec.convert(read_yaml(file), _Competition)
        deadline = parse_deadline(raw.deadline)
    except (OSError, ValueError) as error:
        raise GrammarError(where, reason_of(error)) from None
    entries = [
        _entry(value, f"problems[{index}]", where) for index, value in enumerate(raw.problems)
    ]
    problems = tuple(
        entry if isinstance(entry, Broken) else _problem(entry, raw.name, deadline, file, root)
        for entry in entries
    )
    return Competition(raw.name, problems, not any(isinstance(entry, Broken) for entry in entries))


def _entry(value: object, key: str, where: str) -> _Entry | Broken:
    try:
        entry = msgspec.convert(value, _Entry)
        _check_names(entry.name, *entry.gpus)
    except ValueError as error:
        return Broken(key, GrammarError(where, f"{key}: {reason_of(error)}"))
    return entry


def _problem(
    entry: _Entry, competition: str, deadline: datetime | None, file: Path, root: Path
) -> Problem | Broken:
    where = relative(file, root)
    try:
        task = load_task(_confined(file.parent / entry.directory, root), root)
        own = parse_deadline(entry.deadline)
        gpus = _canonical(entry.gpus or task.gpus)
    except GrammarError as error:
        return Broken(entry.name, error)
    except (OSError, ValueError) as error:
        return Broken(entry.name, GrammarError(where, f"{entry.name}: {reason_of(error)}"))
    return Problem(
        name=entry.name,
        competition=competition,
        directory=entry.directory,
        deadline=own if own is not None else deadline,
        gpus=gpus,
        task=task,
    )


def _confined(path: Path, root: Path) -> Path:
    if not path.resolve().is_relative_to(root.resolve()):
        raise ValueError("it leads out of the problem repository")
    return path


def _check_names(*names: str) -> None:
    for name in names:
        if not name.isprintable() or name != name.strip():
            raise ValueError(f"expected a name without control characters: {name!r}")


def _canonical(gpus: tuple[str, ...]) -> tuple[str, ...]:
    """The spellings as listed, each GPU once. Raises ValueError where there is none."""
    once = {gpu.casefold(): gpu for gpu in reversed(gpus)}
    if not once:
        raise ValueError("`gpus` lists none")
    return tuple(dict.fromkeys(once[gpu.casefold()] for gpu in gpus))
