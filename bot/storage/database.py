"""The engine, and one session a unit of work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.pool import ConnectionPoolEntry

from bot.storage.errors import DatabaseUnreachableError
from bot.storage.migrate import make_current
from bot.storage.url import build_url, is_sqlite, place

Session = AsyncSession
TROUBLE = (SQLAlchemyError, OSError)
"""What a database raises that is away for a while; for work that then tries again later."""


class Database:
    """A database whose tables fit this program; made by `open_database`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._sessions = async_sessionmaker(engine, expire_on_commit=False)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Session]:
        """Open a session and a transaction: committed at the end, rolled back on an exception."""
        async with self._sessions.begin() as session:
            await _undisturbed(session.connection())
            yield session

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


async def _undisturbed(connecting: Awaitable[object]) -> None:
    """Connect, even where the caller is cancelled meanwhile: half a connection closes nobody."""
    task = asyncio.ensure_future(connecting)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


async def open_database(text: str) -> Database:
    """Open the database at URL `text`.

    SQLite tables are upgraded first; a PostgreSQL database that is behind is refused. Raises
    DatabaseUrlError, DatabaseUnreachableError, DatabaseBehindError, DatabaseAheadError.
    """
    url = build_url(text)
    engine = create_engine(url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(engine.dispose)
        with reachable(url):
            await make_current(engine, upgrade=is_sqlite(url))
        stack.pop_all()
    return Database(engine)


async def upgrade_database(text: str) -> str:
    """Bring the tables of any database up to date and return their revision.

    Raises DatabaseUrlError, DatabaseUnreachableError, DatabaseAheadError.
    """
    url = build_url(text)
    engine = create_engine(url)
    try:
        with reachable(url):
            return await make_current(engine, upgrade=True)
    finally:
        await engine.dispose()


@contextmanager
def reachable(url: URL) -> Iterator[None]:
    """Turn what the library and the system raise into DatabaseUnreachableError."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise DatabaseUnreachableError(place(url), _reason(error)) from error


def create_engine(url: URL) -> AsyncEngine:
    """Build the engine; SQLite gets its folder, foreign keys and immediate transactions.

    Errors do not show values: among them are submissions.
    """
    if not is_sqlite(url):
        return create_async_engine(url, pool_pre_ping=True, hide_parameters=True)
    Path(str(url.database)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = create_async_engine(url, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # The driver's own BEGIN comes late and lets a read turn into a write that must fail.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("foreign_keys=ON", "journal_mode=WAL", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split()) or type(cause).__name__
