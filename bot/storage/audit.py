"""What admins did, and what ran by itself: one row each, written before it begins."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import func, select, update

from bot.storage.database import Database
from bot.storage.tables import AuditRow

STARTED = "started"
MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who asks for something: `origin` is discord, command line, periodic or start.

    `id` and `guild_id` are Discord's; on the command line `name` is the system's user.
    """

    origin: str
    id: int | None = None
    name: str = ""
    guild_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the audit table."""

    at: datetime
    ended_at: datetime | None
    who: Who
    action: str
    subject: str | None
    arguments: dict[str, object]
    outcome: str


@dataclass(slots=True)
class Note:
    """What the row of something under way will say when it ends."""

    outcome: str = "done"


class Audit:
    """The audit table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def about(
        self,
        who: Who,
        action: str,
        subject: str | None = None,
        arguments: Mapping[str, object] | None = None,
    ) -> AsyncIterator[Note]:
        """Write a row, and how it ended; an exception passes through and is named in the row.

        `subject` is the name of what it was done to, in any case.
        """
        note = Note()
        async with self._database.begin() as session:
            row = _row(who, action, subject, arguments or {})
            session.add(row)
            await session.flush()
            number = row.id
        try:
            yield note
        except BaseException as error:
            await self._end(number, f"failed: {type(error).__name__}")
            raise
        await self._end(number, note.outcome)

    async def _end(self, number: int, outcome: str) -> None:
        values = {"ended_at": datetime.now(UTC), "outcome": outcome[:MAX_TEXT]}
        async with self._database.begin() as session:
            await session.execute(update(AuditRow).where(AuditRow.id == number).values(**values))

    async def entries(self, subject: str | None = None, limit: int = 20) -> tuple[Entry, ...]:
        """Return the newest rows, newest first; with `subject` those about it."""
        query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
        if subject is not None:
            query = query.where(AuditRow.subject == subject.casefold())
        async with self._database.begin() as session:
            return tuple(_entry(row) for row in await session.scalars(query))

    async def newest(self) -> datetime | None:
        """Return when something last ended; it differs when the tables may."""
        async with self._database.begin() as session:
            return await session.scalar(select(func.max(AuditRow.ended_at)))


def _row(who: Who, action: str, subject: str | None, arguments: Mapping[str, object]) -> AuditRow:
    return AuditRow(
        at=datetime.now(UTC),
        origin=who.origin,
        actor=who.id,
        actor_name=who.name[:100],
        guild_id=who.guild_id,
        action=action,
        subject=None if subject is None else subject.casefold()[:400],
        arguments=msgspec.json.encode(dict(arguments)).decode(),
        outcome=STARTED,
    )


def _entry(row: AuditRow) -> Entry:
    return Entry(
        at=row.at,
        ended_at=row.ended_at,
        who=Who(origin=row.origin, id=row.actor, name=row.actor_name, guild_id=row.guild_id),
        action=row.action,
        subject=row.subject,
        arguments=msgspec.json.decode(row.arguments, type=dict[str, object]),
        outcome=row.outcome,
    )
