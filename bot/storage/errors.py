"""Why the database cannot be used: typed here, worded in bot/wording.py."""

from dataclasses import dataclass

from bot.jobs.errors import NcubotError


@dataclass(eq=False)
class DatabaseUrlError(NcubotError):
    """The URL names no database that the bot can use."""

    reason: str


@dataclass(eq=False)
class DatabaseUnreachableError(NcubotError):
    """Nothing answers at the URL, or it does not let the bot in. `place` has no password."""

    place: str
    reason: str


@dataclass(eq=False)
class DatabaseTakenError(NcubotError):
    """Another bot works on the database. `place` has no password."""

    place: str


@dataclass(eq=False)
class DatabaseBehindError(NcubotError):
    """The tables are older than this program; `found` is their revision, or None where empty."""

    found: str | None
    needed: str


@dataclass(eq=False)
class DatabaseAheadError(NcubotError):
    """The tables were made by a newer program."""

    found: str
