"""Leaderboards for those who command them: sync one at a time, then serve the new state."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.jobs.errors import LeaderboardUnknown, NcubotError
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.changes import FieldChange, task_differences
from bot.leaderboards.lock import alone
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.reading import Limits, Reading, read_source
from bot.leaderboards.source import at_ref, find_source
from bot.leaderboards.sync import Check, SyncReport, sync
from bot.settings import BotSettings
from bot.storage import boards
from bot.storage.audit import Audit, Entry, Who
from bot.storage.boards import Version
from bot.storage.database import TROUBLE, Database
from bot.wording import sentence

log = logging.getLogger(__name__)
LOCK = "sync.lock"
SCRATCH = "sync"
WATCH_S = 30.0
HISTORY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be synced. `anywhere` lets the source be any folder of this machine."""

    source: str
    ref: str | None = None
    problem_set: str | None = None
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A version of a leaderboard and what it changed about the one before it."""

    version: Version
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class History:
    """A leaderboard's newest versions and what admins did to it, newest first."""

    states: tuple[State, ...]
    entries: tuple[Entry, ...]


class LeaderboardService:
    """Writes the leaderboard tables and keeps the catalogue true to them."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        settings: BotSettings,
        check: Check | None = None,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._settings = settings
        self._check = check
        self._served: datetime | None = None
        self.audit = Audit(database)

    async def read(self, request: Request) -> Reading:
        """Read a source at one commit. Raises SourceError, SyncBusy."""
        settings = self._settings
        limits = Limits(
            scratch=settings.data.absolute() / SCRATCH,
            time_s=settings.sync_time_limit,
            max_bytes=settings.sync_max_bytes,
            tokens=settings.git_tokens,
        )
        found = await asyncio.to_thread(
            find_source, request.source, settings.problems, anywhere=request.anywhere
        )
        async with alone(settings.data / LOCK):
            source = at_ref(found, request.ref)
            return await read_source(source, request.ref, request.problem_set, limits)

    async def plan(self, reading: Reading, *, force: bool = False) -> SyncReport:
        """Say what `apply` would do, and do nothing."""
        return await sync(self._database, reading, dry_run=True, force=force, check=self._check)

    async def apply(self, reading: Reading, who: Who, *, force: bool = False) -> SyncReport:
        """Bring the tables in line with a reading and serve them. Raises SyncBusy."""
        arguments = {"source": reading.source, "commit": reading.commit, "force": force}
        async with (
            alone(self._settings.data / LOCK),
            self.audit.about(who, "leaderboard sync", None, arguments) as note,
        ):
            report = await sync(self._database, reading, force=force, check=self._check)
            note.outcome = outcome(report)
            await self.refresh()
        return report

    async def sync_folder(self, folder: Path, who: Who) -> SyncReport:
        """Sync a folder of this machine. Raises SourceError, SyncBusy."""
        reading = await self.read(Request(source=str(folder), anywhere=True))
        return await self.apply(reading, who)

    async def close(self, name: str, who: Who) -> Leaderboard:
        """Close a leaderboard; no sync opens it again. Raises LeaderboardUnknown."""
        board = self.find(name)
        async with self.audit.about(who, "leaderboard close", board.name):
            async with self._database.begin() as session:
                await boards.close(session, [board.id], datetime.now(UTC), who.id)
            await self.refresh()
        return board

    async def reopen(self, name: str, who: Who) -> Leaderboard:
        """Open a leaderboard again. Raises LeaderboardUnknown."""
        board = self.find(name)
        async with self.audit.about(who, "leaderboard open", board.name):
            async with self._database.begin() as session:
                await boards.reopen(session, board.id)
            await self.refresh()
        return board

    async def override_check(self, name: str, who: Who, *, overridden: bool) -> Leaderboard:
        """Let profiles run whatever the check says, or no longer. Raises LeaderboardUnknown."""
        board = self.find(name)
        arguments = {"overridden": overridden}
        async with self.audit.about(who, "leaderboard override", board.name, arguments):
            async with self._database.begin() as session:
                await boards.override_check(session, board.id, overridden=overridden)
            await self.refresh()
        return board

    def find(self, name: str) -> Leaderboard:
        """Return a leaderboard by its name in any case. Raises LeaderboardUnknown."""
        board = self._catalogue.get(name)
        if board is None:
            names = tuple(board.name for board in self._catalogue.all())
            raise LeaderboardUnknown(name, self._catalogue.nearest(name, closed=True), names)
        return board

    async def history(self, board: Leaderboard) -> History:
        """Return what became of a leaderboard."""
        async with self._database.begin() as session:
            found = await boards.versions(session, board.id, HISTORY + 1)
        older = (*found[1:], None)
        states = tuple(
            State(new, () if old is None else tuple(task_differences(old.task, new.task)))
            for new, old in zip(found, older, strict=True)
        )
        return History(states[:HISTORY], await self.audit.entries(board.name, HISTORY))

    async def refresh(self) -> None:
        """Serve what the tables hold."""
        self._served = await self.audit.newest()
        known = {board.version_id: board.task for board in self._catalogue.all()}
        async with self._database.begin() as session:
            leaderboards = await boards.load_all(session, known)
        self._catalogue.replace(leaderboards)

    async def watch(self, every_s: float = WATCH_S) -> None:
        """Serve what other processes did to the tables, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            try:
                if await self.audit.newest() != self._served:
                    await self.refresh()
            except TROUBLE as error:
                log.warning("leaderboards could not be looked at: %s", error)

    async def sync_periodically(self, request: Request, every: timedelta) -> None:
        """Sync again and again until cancelled; what goes wrong is logged. Never forced."""
        while True:
            await asyncio.sleep(every.total_seconds())
            await self.sync_once(request)

    async def sync_once(self, request: Request) -> None:
        """Sync as the clock demands it."""
        try:
            reading = await self.read(request)
            report = await self.apply(reading, Who(origin="periodic"))
        except NcubotError as error:
            log.warning("periodic sync of %s: %s", request.source, sentence(error))
            return
        except TROUBLE as error:
            log.warning("periodic sync of %s: %s", request.source, error)
            return
        log.info("periodic sync of %s: %s", report.source, outcome(report))
        for fault in report.errors:
            log.warning("problem %s cannot be used: %s", fault.name, fault.error)


def outcome(report: SyncReport) -> str:
    """Say in one line what a sync did."""
    counts = {
        "created": report.created,
        "updated": report.updated,
        "closed": report.closed,
        "skipped": report.skipped,
        "errors": report.errors,
    }
    said = [f"{len(names)} {kind}" for kind, names in counts.items() if names]
    said.append(f"{len(report.unchanged)} unchanged")
    names = (*report.created, *report.updated, *report.closed)
    return ", ".join(said) + (f": {', '.join(names)}" if names else "")
