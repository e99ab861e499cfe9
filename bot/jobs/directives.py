"""`#!POPCORN` and `//!POPCORN` lines of a submission."""

from collections.abc import Iterator
from dataclasses import dataclass

MARKS = ("#!POPCORN", "//!POPCORN")


@dataclass(frozen=True, slots=True)
class Directives:
    """What the file itself asks for; None and empty where it does not."""

    leaderboard: str | None = None
    gpus: tuple[str, ...] = ()


def read_directives(text: str, *, python: bool) -> Directives:
    """Read the directives in the first comment block; what stands below code is no directive.

    Where a key stands twice the first one counts.
    """
    found: dict[str, list[str]] = {}
    for line in _first_comments(text, python=python):
        mark, _, rest = line.partition(" ")
        words = rest.split()
        if mark in MARKS and len(words) > 1:
            key = {"gpu": "gpus"}.get(words[0].lower(), words[0].lower())
            found.setdefault(key, words[1:])
    boards = found.get("leaderboard")
    return Directives(boards[0] if boards else None, tuple(found.get("gpus", ())))


def _first_comments(text: str, *, python: bool) -> Iterator[str]:
    # A # of CUDA is the preprocessor's, so only the directive's own spelling counts there.
    marks = ("#", "//!POPCORN") if python else ("//", "#!")
    for line in text.split("\n"):
        stripped = " ".join(line.split())
        if stripped and not stripped.startswith(marks):
            return
        yield stripped
