"""Whether jobs are taken at all: an admin can stop that for the whole bot."""

from datetime import UTC, datetime

from sqlalchemy import delete

from bot.jobs.errors import JobsStopped
from bot.storage.audit import Audit, Who
from bot.storage.database import Database, Session
from bot.storage.tables import GateRow

_THE_ONE = 1


async def refuse_stopped(session: Session) -> None:
    """Raise JobsStopped while no jobs are taken."""
    if await session.get(GateRow, _THE_ONE) is not None:
        raise JobsStopped


class Gate:
    """The gate for all jobs, whatever entrance they come to. It stays as it is over restarts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._audit = Audit(database)

    async def close(self, who: Who) -> None:
        """Take no further jobs; those under way go on."""
        async with self._audit.about(who, "jobs stop", None), self._database.begin() as session:
            await session.merge(GateRow(id=_THE_ONE, closed_at=datetime.now(UTC)))

    async def open(self, who: Who) -> None:
        """Take jobs again."""
        async with self._audit.about(who, "jobs start", None), self._database.begin() as session:
            await session.execute(delete(GateRow))
