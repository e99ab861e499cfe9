"""Who may not use the bot. All of them are in memory, so that every entrance can ask."""

from datetime import UTC, datetime

from sqlalchemy import delete, select

from bot.accounts.model import Ban
from bot.jobs.errors import Banned
from bot.storage.database import Database, Session
from bot.storage.tables import BanRow

MAX_REASON = 400


async def refuse_banned(session: Session, user_id: int) -> None:
    """Raise Banned for a user who is, as the table says."""
    row = await session.get(BanRow, user_id)
    if row is not None:
        raise Banned(row.reason)


class Bans:
    """The bans, as the table had them when it was last read or written here."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bans: dict[int, Ban] = {}

    async def load(self) -> None:
        """Read the table."""
        async with self._database.begin() as session:
            self._bans = {row.user_id: _ban(row) for row in await session.scalars(select(BanRow))}

    def of(self, user_id: int) -> Ban | None:
        """Return the ban of a user, from memory."""
        return self._bans.get(user_id)

    def let_in(self, user_id: int) -> None:
        """Raise Banned for a user who is. Every entrance asks here, whatever leads to it."""
        ban = self.of(user_id)
        if ban is not None:
            raise Banned(ban.reason)

    async def add(self, user_id: int, by: int | None, reason: str) -> None:
        """Ban a user, or give a ban another reason."""
        row = BanRow(user_id=user_id, at=datetime.now(UTC), by=by, reason=reason[:MAX_REASON])
        async with self._database.begin() as session:
            await session.merge(row)
        self._bans[user_id] = _ban(row)

    async def remove(self, user_id: int) -> bool:
        """Lift a ban; tell whether there was one."""
        async with self._database.begin() as session:
            gone = await session.execute(
                delete(BanRow).where(BanRow.user_id == user_id).returning(BanRow.user_id)
            )
            lifted = gone.first() is not None
        self._bans.pop(user_id, None)
        return lifted


def _ban(row: BanRow) -> Ban:
    return Ban(user_id=row.user_id, at=row.at, by=row.by, reason=row.reason)
