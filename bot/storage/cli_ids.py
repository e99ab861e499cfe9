"""Queries about the ids by which terminals name themselves. Only their SHA-256 is stored."""

from datetime import datetime

from sqlalchemy import delete, func, select

from bot.accounts.cli_id import OFFER_LIFE, digest, exact, new_id, pasted
from bot.jobs.errors import CliIdTaken, CliIdUnknown, CliIdUnreadable, NotRegistered
from bot.storage.database import Session
from bot.storage.tables import CliIdRow, UserRow


async def offer(session: Session, now: datetime) -> str:
    """Make an id that nobody owns, and forget those that nobody came for."""
    await session.execute(
        delete(CliIdRow).where(CliIdRow.user_id.is_(None), CliIdRow.offered_at < now - OFFER_LIFE)
    )
    cli_id = new_id()
    session.add(CliIdRow(digest=digest(cli_id), offered_at=now))
    return cli_id


async def link(session: Session, user_id: int, text: str, now: datetime) -> bool:
    """Give an offered id to a user, and take the user's former one away.

    False where it was the user's already. Raises CliIdUnreadable, CliIdUnknown, CliIdTaken,
    NotRegistered.
    """
    cli_id = pasted(text)
    if cli_id is None:
        raise CliIdUnreadable
    user = await session.get(UserRow, user_id, with_for_update=True)
    if user is None or user.left_at is not None:
        raise NotRegistered
    row = await session.get(CliIdRow, digest(cli_id), with_for_update=True)
    if row is not None and row.user_id is not None:
        if row.user_id == user_id:
            return False
        raise CliIdTaken
    if row is None or row.offered_at < now - OFFER_LIFE:
        raise CliIdUnknown(OFFER_LIFE)
    await unlink(session, user_id)
    row.user_id = user_id
    return True


async def unlink(session: Session, user_id: int) -> bool:
    """Take a user's id away; tell whether there was one."""
    gone = await session.execute(
        delete(CliIdRow).where(CliIdRow.user_id == user_id).returning(CliIdRow.digest)
    )
    return gone.first() is not None


async def is_linked(session: Session, user_id: int) -> bool:
    """Whether a user has an id."""
    query = select(func.count()).select_from(CliIdRow).where(CliIdRow.user_id == user_id)
    return bool(await session.scalar(query))


async def owner(session: Session, cli_id: str) -> int | None:
    """Return the user who has an id, given in its exact form."""
    known = exact(cli_id)
    if known is None:
        return None
    query = select(CliIdRow.user_id).where(CliIdRow.digest == digest(known))
    found: int | None = await session.scalar(query)
    return found
