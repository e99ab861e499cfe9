"""The way of each result to its author, recorded step by step."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Select, or_, select, update

from bot.delivery.address import Address, WayName
from bot.jobs.model import Job, JobPhase
from bot.storage import jobs
from bot.storage.database import Database, Session
from bot.storage.tables import DeliveryPartRow, DeliveryRow, JobRow
from runner_client.secret import Secret

NEVER_CALLED_FOR = "never-called-for"
"""What a job failed by whose result reached nobody."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A message that was opened on some way, and whether it was filled."""

    number: int
    way: WayName
    message_id: int
    filled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How far a job's result has come.

    `way` is the one that was tried last; `words` say why there is no result.
    """

    job: Job
    address: Address
    way: WayName | None
    words: str | None
    parts: tuple[StoredPart, ...]


async def add(session: Session, job_id: str, address: Address) -> None:
    """Store where a new job's author is to be reached."""
    session.add(
        DeliveryRow(
            job_id=job_id,
            application_id=address.application_id,
            token=address.token.reveal() if address.token else None,
            expires_at=address.expires_at,
            upload_limit=address.upload_limit,
        )
    )


async def explain(session: Session, job_id: str, words: str) -> None:
    """Store the sentence that tells an author why there is no result."""
    await session.execute(
        update(DeliveryRow).where(DeliveryRow.job_id == job_id).values(words=words)
    )


async def end_kept(session: Session, before: datetime, words: str) -> int:
    """Let jobs fail whose kept results nobody came for; return how many deliveries have ended.

    They are those whose files are gone, or that have been kept since before a moment. What a job
    had failed by already stays, and whether it counts against a quota.
    """
    query = (
        select(DeliveryRow, JobRow)
        .join(JobRow, JobRow.id == DeliveryRow.job_id)
        .where(DeliveryRow.over_at.is_(None), DeliveryRow.way == WayName.KEPT.value)
        .where(or_(JobRow.files_gone_at.is_not(None), JobRow.phase_at < before))
    )
    found = (await session.execute(query)).all()
    for delivery, job in found:
        if await jobs.move(session, job.id, JobPhase.FAILED):
            job.failure_kind = job.failure_kind or NEVER_CALLED_FOR
        delivery.words = delivery.words or words
        delivery.over_at = datetime.now(UTC)
    return len(found)


class Deliveries:
    """The deliveries of all jobs. Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unfinished(self) -> tuple[str, ...]:
        """Return the jobs whose authors are still to be reached, oldest first."""
        query = (
            _open(select(JobRow.id))
            .where(DeliveryRow.way.is_distinct_from(WayName.KEPT.value))
            .order_by(JobRow.created_at)
        )
        async with self._database.begin() as session:
            return tuple(await session.scalars(query))

    async def load(self, job_id: str) -> Delivery | None:
        """Return the delivery of a job, or None where none is under way."""
        async with self._database.begin() as session:
            row = await session.get(DeliveryRow, job_id)
            if row is None or row.over_at is not None:
                return None
            job = await session.get_one(JobRow, job_id)
            query = select(DeliveryPartRow).where(DeliveryPartRow.job_id == job_id)
            parts = (await session.scalars(query.order_by(DeliveryPartRow.number))).all()
            return _delivery(row, job, parts)

    async def begin(self, job_id: str) -> None:
        """Note that what a job brought is being sent."""
        async with self._database.begin() as session:
            await jobs.move(session, job_id, JobPhase.DELIVERING)

    async def take(self, job_id: str, way: WayName) -> None:
        """Note which way is tried. On a way without the interaction its token is wiped."""
        change: dict[str, object] = {"way": way.value}
        if way is not WayName.REPLY:
            change["token"] = None
        async with self._database.begin() as session:
            await session.execute(
                update(DeliveryRow).where(DeliveryRow.job_id == job_id).values(**change)
            )

    async def opened(self, job_id: str, number: int, way: WayName, message_id: int) -> None:
        """Note the id of an opened message."""
        async with self._database.begin() as session:
            await session.merge(
                DeliveryPartRow(
                    job_id=job_id,
                    number=number,
                    way=way.value,
                    message_id=message_id,
                    opened_at=datetime.now(UTC),
                )
            )

    async def filled(self, job_id: str, number: int) -> None:
        """Note that a message is filled."""
        async with self._database.begin() as session:
            part = await session.get_one(DeliveryPartRow, (job_id, number))
            part.filled_at = datetime.now(UTC)

    async def over(self, job_id: str) -> None:
        """Note that the author has everything, and forget the interaction's token."""
        async with self._database.begin() as session:
            await jobs.move(session, job_id, JobPhase.DELIVERED)
            await session.execute(
                update(DeliveryRow)
                .where(DeliveryRow.job_id == job_id)
                .values(over_at=datetime.now(UTC), token=None)
            )

    async def forget_tokens(self) -> None:
        """Forget the tokens that are too old to be of use."""
        async with self._database.begin() as session:
            await session.execute(
                update(DeliveryRow)
                .where(DeliveryRow.token.is_not(None), DeliveryRow.expires_at < datetime.now(UTC))
                .values(token=None)
            )

    async def with_kept(self) -> frozenset[int]:
        """Return the users for whom something is kept that could not be sent."""
        query = _open(select(JobRow.user_id)).where(DeliveryRow.way == WayName.KEPT.value)
        async with self._database.begin() as session:
            return frozenset(await session.scalars(query))

    async def kept(self, user_id: int) -> tuple[Delivery, ...]:
        """Return what is kept for a user and could not be sent, oldest first."""
        query = (
            select(DeliveryRow, JobRow)
            .join(JobRow, JobRow.id == DeliveryRow.job_id)
            .where(DeliveryRow.over_at.is_(None), DeliveryRow.way == WayName.KEPT.value)
            .where(JobRow.user_id == user_id)
            .order_by(JobRow.created_at)
        )
        async with self._database.begin() as session:
            return tuple(_delivery(row, job, ()) for row, job in await session.execute(query))


def _open(query: Select[tuple[object]]) -> Select[tuple[object]]:
    return query.join(DeliveryRow, JobRow.id == DeliveryRow.job_id).where(
        DeliveryRow.over_at.is_(None)
    )


def _delivery(row: DeliveryRow, job: JobRow, parts: Iterable[DeliveryPartRow]) -> Delivery:
    address = Address(
        user_id=job.user_id,
        application_id=row.application_id,
        token=Secret(row.token) if row.token else None,
        expires_at=row.expires_at,
        channel_id=job.channel_id,
        guild_id=job.guild_id,
        upload_limit=row.upload_limit,
    )
    return Delivery(
        job=jobs.job_of(job),
        address=address,
        way=WayName(row.way) if row.way else None,
        words=row.words,
        parts=tuple(
            StoredPart(part.number, WayName(part.way), part.message_id, part.filled_at is not None)
            for part in parts
        ),
    )
