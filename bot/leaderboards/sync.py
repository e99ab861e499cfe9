"""From what a source declares to the leaderboard tables: the one function that does it."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from msgspec import Struct, structs

from bot.leaderboards.changes import Change, Decision, FieldChange, decide
from bot.leaderboards.check.model import REVISION, CheckResult
from bot.leaderboards.competition import Broken, Competition
from bot.leaderboards.model import Leaderboard, Problem, Task
from bot.leaderboards.reading import Reading
from bot.storage import boards
from bot.storage.database import Database

Check = Callable[[Task, tuple[str, ...]], CheckResult]
"""Says from a task's files, and the GPUs, whether its evaluator can give counters; maybe slow."""

DECLARED = frozenset({"spec-rejected", "bool-as-text"})
"""Findings of these rules are about what task.yml declares, whatever becomes of profiles."""


class Changed(Struct, frozen=True):
    """A leaderboard and the fields that a sync changed."""

    name: str
    changes: tuple[FieldChange, ...]


class Skipped(Struct, frozen=True):
    """What was left as it is, and why. The rest of the leaderboard may have been updated."""

    name: str
    reason: str
    changes: tuple[FieldChange, ...] = ()


class SyncFault(Struct, frozen=True):
    """A problem or YAML that cannot be used, and why."""

    name: str
    error: str


class SyncReport(Struct, frozen=True, kw_only=True):
    """What a sync did, or a dry run would do, by leaderboard name.

    `changed` says of those in `updated` which fields; `warnings` are what authors should mend.
    """

    commit: str | None
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[SyncFault, ...] = ()
    source: str = ""
    changed: tuple[Changed, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether anything was, or would be, changed."""
        return bool(self.created or self.updated or self.closed)

    @property
    def held(self) -> bool:
        """Whether something waits for a confirmation."""
        return any(skip.changes for skip in self.skipped)


async def sync(
    database: Database,
    reading: Reading,
    *,
    dry_run: bool = False,
    force: bool = False,
    check: Check | None = None,
) -> SyncReport:
    """Bring the leaderboard tables in line with what was read.

    One transaction a problem: one that is broken stops no other, and a sync that is killed leaves
    each leaderboard as it was or as it is to be. Problems that left their YAML are closed, never
    deleted; where an entry's name cannot be read, nothing of that competition is. With `dry_run`
    the same is decided and nothing written. With `force` changes that alter the meaning of old
    results are made too, and leaderboards of another source taken over.
    """
    async with database.begin() as session:
        stored = await boards.load_all(session)
    run = _Sync(database, reading, stored, dry_run=dry_run, force=force, check=check)
    for competition in reading.competitions:
        await run.competition(competition)
    await run.note_commit()
    await run.close_absent()
    return run.report()


class _Sync:
    """One run: what it did so far."""

    def __init__(
        self,
        database: Database,
        reading: Reading,
        stored: Iterable[Leaderboard],
        *,
        dry_run: bool,
        force: bool,
        check: Check | None,
    ) -> None:
        self.database = database
        self.reading = reading
        self.stored = {board.name.casefold(): board for board in stored}
        self.dry_run = dry_run
        self.force = force
        self.check = check
        self.now = datetime.now(UTC)
        self.seen: set[str] = set()
        self.same: list[int] = []
        self.done: dict[Change, list[str]] = {change: [] for change in Change}
        self.changed: list[Changed] = []
        self.closed: list[str] = []
        self.skipped: list[Skipped] = []
        self.warnings = [w for entry in reading.competitions for w in entry.warnings]
        complete = [entry for entry in reading.competitions if entry.complete]
        partial = [entry.problem_set for entry in reading.competitions if not entry.complete]
        self.complete_names = {entry.name for entry in complete}
        self.complete_sets = {entry.problem_set for entry in complete} - set(partial)
        self.faults = [SyncFault(fault.error.file, fault.error.reason) for fault in reading.faults]

    async def competition(self, competition: Competition) -> None:
        for problem in competition.problems:
            key = problem.name.casefold()
            if isinstance(problem, Broken):
                error = f"{problem.error.file}: {problem.error.reason}"
                self.faults.append(SyncFault(problem.name, error))
            elif key in self.seen:
                self.faults.append(SyncFault(problem.name, "listed twice; the first one counts"))
            else:
                await self.problem(problem, self.stored.get(key))
            self.seen.add(key)

    async def problem(self, problem: Problem, stored: Leaderboard | None) -> None:
        decision = self.decided(stored, problem)
        if self.is_to_write(stored, decision):
            result = await self.checked(decision.problem)
            if not self.dry_run:
                try:
                    decision = await self.written(problem, result)
                except boards.AtOnceError:
                    words = "somebody else made it at the same moment; sync again"
                    self.faults.append(SyncFault(problem.name, words))
                    return
        else:
            result = stored.check if stored is not None else None
            if stored is not None and stored.commit != decision.commit:
                self.same.append(stored.id)
        self.note(problem.name, decision, result)

    async def written(self, problem: Problem, result: CheckResult | None) -> Decision:
        """Decide again inside the transaction: what counts is what the tables hold then."""
        async with self.database.begin() as session:
            stored = await boards.find(session, problem.name)
            decision = self.decided(stored, problem)
            if stored is None:
                await boards.create(session, decision, self.now, result)
            else:
                await boards.change(session, stored, decision, self.now, result)
        return decision

    def is_to_write(self, stored: Leaderboard | None, decision: Decision) -> bool:
        """Whether more than the commit differs."""
        if stored is None or decision.change is not Change.UNCHANGED:
            return True
        problem = decision.problem
        declared = (decision.source, problem.problem_set, problem.directory)
        judged_by = None if stored.check is None else stored.check.revision
        unchecked = self.check is not None and judged_by != REVISION
        return unchecked or declared != (stored.source, stored.problem_set, stored.directory)

    def decided(self, stored: Leaderboard | None, problem: Problem) -> Decision:
        reading = self.reading
        return decide(stored, problem, reading.source, reading.commit, force=self.force)

    async def checked(self, problem: Problem) -> CheckResult | None:
        if self.check is None:
            return None
        result = await asyncio.to_thread(self.check, problem.task, problem.gpus)
        return structs.replace(result, revision=REVISION)

    def note(self, name: str, decision: Decision, result: CheckResult | None) -> None:
        if decision.held:
            self.skipped.append(Skipped(name, decision.reason, decision.held))
        if decision.change is not Change.UNCHANGED or not decision.held:
            self.done[decision.change].append(name)
        if decision.applied:
            self.changed.append(Changed(name, decision.applied))
        for finding in result.findings if result else ():
            if finding.rule in DECLARED:
                self.warnings.append(f"{name}: {finding.file}: {finding.message}")

    async def note_commit(self) -> None:
        if self.same and not self.dry_run:
            async with self.database.begin() as session:
                await boards.note_commit(session, self.same, self.reading.commit)

    async def close_absent(self) -> None:
        absent = [board for key, board in self.stored.items() if key not in self.seen]
        left = [board for board in absent if not board.closed and self.has_left(board)]
        if left and not self.dry_run:
            async with self.database.begin() as session:
                await boards.close(session, [board.id for board in left], self.now, None)
        self.closed += [board.name for board in left]

    def has_left(self, board: Leaderboard) -> bool:
        """Whether its YAML, or the whole YAML, is no longer there; else nothing can be said."""
        if board.source is None:
            return board.competition in self.complete_names
        if board.source != self.reading.source:
            return False
        if board.problem_set in self.reading.sets:
            return board.problem_set in self.complete_sets
        return self.reading.whole

    def report(self) -> SyncReport:
        return SyncReport(
            commit=self.reading.commit,
            created=tuple(self.done[Change.CREATED]),
            updated=tuple(self.done[Change.UPDATED]),
            unchanged=tuple(self.done[Change.UNCHANGED]),
            closed=tuple(self.closed),
            skipped=tuple(self.skipped),
            errors=tuple(self.faults),
            source=self.reading.source,
            changed=tuple(self.changed),
            warnings=tuple(dict.fromkeys(self.warnings)),
        )
