"""From a folder of problems to the leaderboard tables: the one function that does it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from bot.leaderboards.competition import Broken, Competition, load_competition
from bot.leaderboards.errors import GrammarError, SourceError
from bot.leaderboards.git import head_commit
from bot.leaderboards.model import Problem
from bot.storage import boards
from bot.storage.boards import Change
from bot.storage.database import Database


class Skipped(Struct, frozen=True):
    """A problem that was left as it is, and why."""

    name: str
    reason: str


class SyncFault(Struct, frozen=True):
    """A problem or YAML that cannot be used, and why."""

    name: str
    error: str


class SyncReport(Struct, frozen=True, kw_only=True):
    """What a sync did, by leaderboard name; encodes to the JSON of `ncubot sync`."""

    commit: str | None
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[SyncFault, ...] = ()


async def sync_folder(database: Database, folder: Path, *, dry_run: bool = False) -> SyncReport:
    """Bring the leaderboard tables in line with the competition YAMLs of `folder`.

    One transaction a problem: a broken one stops no other. Problems that left their YAML are
    closed, never deleted; where an entry's name cannot be read, nothing of that competition is.
    With `dry_run` everything is done and rolled back. Raises SourceError.
    """
    competitions, faults = await asyncio.to_thread(read_folder, folder)
    commit = await head_commit(folder)
    run = _Sync(database, commit, dry_run)
    run.faults.extend(faults)
    for competition in competitions:
        await run.competition(competition)
    return run.report()


def read_folder(folder: Path) -> tuple[tuple[Competition, ...], tuple[SyncFault, ...]]:
    """Read every competition YAML of `folder`, or of its `problems` folder. Raises SourceError."""
    competitions: list[Competition] = []
    faults: list[SyncFault] = []
    for file in _yaml_files(folder):
        try:
            competitions.append(load_competition(file, folder))
        except GrammarError as error:
            faults.append(SyncFault(file.name, f"{error.file}: {error.reason}"))
    return tuple(competitions), tuple(faults)


def _yaml_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SourceError(str(folder), "no such folder")
    for place in (folder, folder / "problems"):
        found = sorted({*place.glob("*.yaml"), *place.glob("*.yml")} - {place / "task.yml"})
        if found:
            return found
    raise SourceError(str(folder), "no competition YAML in it")


class _Sync:
    """One run: what it did so far."""

    def __init__(self, database: Database, commit: str | None, dry_run: bool) -> None:
        self.database = database
        self.commit = commit
        self.dry_run = dry_run
        self.now = datetime.now(UTC)
        self.faults: list[SyncFault] = []
        self.closed: list[str] = []
        self.done: dict[Change, list[str]] = {change: [] for change in Change}
        self.seen: set[str] = set()

    async def competition(self, competition: Competition) -> None:
        for problem in competition.problems:
            if isinstance(problem, Broken):
                error = problem.error
                self.faults.append(SyncFault(problem.name, f"{error.file}: {error.reason}"))
            elif problem.name.casefold() in self.seen:
                self.faults.append(SyncFault(problem.name, "listed twice; the first one counts"))
            else:
                await self.problem(problem)
            self.seen.add(problem.name.casefold())
        if competition.complete:
            await self.close_absent(competition)

    async def problem(self, problem: Problem) -> None:
        async with self.database.begin() as session:
            change = await boards.apply(session, problem, self.commit, self.now)
            if self.dry_run:
                await session.rollback()
        self.done[change].append(problem.name)

    async def close_absent(self, competition: Competition) -> None:
        listed = [problem.name for problem in competition.problems]
        async with self.database.begin() as session:
            closed = await boards.close_absent(session, competition.name, listed, self.now)
            if self.dry_run:
                await session.rollback()
        self.closed.extend(closed)

    def report(self) -> SyncReport:
        return SyncReport(
            commit=self.commit,
            created=tuple(self.done[Change.CREATED]),
            updated=tuple(self.done[Change.UPDATED]),
            unchanged=tuple(self.done[Change.UNCHANGED]),
            closed=tuple(self.closed),
            errors=tuple(self.faults),
        )
