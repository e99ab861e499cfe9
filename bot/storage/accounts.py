"""The accounts of Discord users, and the terminals that are linked to them."""

from datetime import UTC, datetime

from sqlalchemy.exc import IntegrityError

from bot.accounts.model import Account
from bot.storage import cli_ids
from bot.storage.database import Database, Session
from bot.storage.tables import UserRow


async def exists(session: Session, user_id: int) -> bool:
    """Whether the Discord user has an account."""
    return await find(session, user_id) is not None


async def find(session: Session, user_id: int) -> Account | None:
    """Return a user's account, or None where there is none."""
    row = await session.get(UserRow, user_id)
    if row is None or row.left_at is not None:
        return None
    linked = await cli_ids.is_linked(session, user_id)
    return Account(user_id=user_id, name=row.name, created_at=row.created_at, linked=linked)


async def lock(session: Session, user_id: int) -> bool:
    """Let no other transaction take this lock until the session's ends; False without an account.

    SQLite has one writer at a time anyway.
    """
    row = await session.get(UserRow, user_id, with_for_update=True)
    return row is not None and row.left_at is None


class Accounts:
    """The accounts of Discord users. Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, user_id: int, name: str) -> bool:
        """Make an account for a Discord user; False where there was one already."""
        try:
            async with self._database.begin() as session:
                return await _open(session, user_id, name[:100])
        except IntegrityError:
            # Two presses at once: the other one made it.
            return False

    async def is_registered(self, user_id: int) -> bool:
        """Whether the Discord user has an account."""
        async with self._database.begin() as session:
            return await exists(session, user_id)

    async def offer_cli_id(self) -> str:
        """Make an id for a popcorn-cli; somebody may `link` it within OFFER_LIFE."""
        async with self._database.begin() as session:
            return await cli_ids.offer(session, datetime.now(UTC))

    async def link(self, user_id: int, text: str) -> bool:
        """Let the id in a pasted text speak for a user, in place of the one before.

        Tells whether anything changed. Raises CliIdUnreadable, CliIdUnknown, CliIdTaken,
        NotRegistered.
        """
        async with self._database.begin() as session:
            return await cli_ids.link(session, user_id, text, datetime.now(UTC))

    async def unlink(self, user_id: int) -> bool:
        """Let no terminal speak for a user any more; tell whether one did."""
        async with self._database.begin() as session:
            return await cli_ids.unlink(session, user_id)

    async def user_of_cli_id(self, cli_id: str) -> int | None:
        """Return the user for whom an id speaks; None for one that nobody has linked."""
        async with self._database.begin() as session:
            return await cli_ids.owner(session, cli_id)


async def _open(session: Session, user_id: int, name: str) -> bool:
    row = await session.get(UserRow, user_id, with_for_update=True)
    now = datetime.now(UTC)
    if row is None:
        session.add(UserRow(id=user_id, name=name, created_at=now))
        return True
    if row.left_at is None:
        return False
    row.name, row.created_at, row.left_at = name, now, None
    return True
