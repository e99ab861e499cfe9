"""Queries about accounts. Each takes the session of its unit of work."""

from datetime import UTC, datetime

from sqlalchemy.exc import IntegrityError

from bot.storage.database import Database, Session
from bot.storage.tables import UserRow


async def exists(session: Session, user_id: int) -> bool:
    """Whether the Discord user has an account."""
    return await session.get(UserRow, user_id) is not None


class Accounts:
    """The accounts of Discord users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, user_id: int, name: str) -> bool:
        """Make an account for a Discord user; False where there was one already."""
        try:
            async with self._database.begin() as session:
                if await exists(session, user_id):
                    return False
                session.add(UserRow(id=user_id, name=name[:100], created_at=datetime.now(UTC)))
        except IntegrityError:
            # Two presses at once: the other one made it.
            return False
        return True

    async def is_registered(self, user_id: int) -> bool:
        """Whether the Discord user has an account."""
        async with self._database.begin() as session:
            return await exists(session, user_id)
