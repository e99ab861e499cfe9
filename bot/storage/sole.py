"""One bot on one database: two would both send every result.

What holds goes with the process, however it ends: on PostgreSQL an advisory lock of a session of
its own, on SQLite a lock on a file beside the database.
"""

import asyncio
import fcntl
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import URL, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from bot.storage.database import TROUBLE, reachable
from bot.storage.errors import DatabaseTakenError
from bot.storage.url import build_url, is_sqlite, place

log = logging.getLogger(__name__)
WAIT_S = 5.0
"""How long a killed bot's lock may take to go."""
TRY_EVERY_S = 0.2
LOOK_EVERY_S = 5.0
ANSWER_S = 10.0
SUFFIX = ".bot-lock"
_KEEPALIVES = {"tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5"} | {
    "tcp_keepalives_count": "3"
}
"""After half a minute PostgreSQL lets go of a bot whose machine is gone."""
_TAKE = text("SELECT pg_try_advisory_lock(1852011874, 1)")
_END_OWN = text(
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
    "AND (classid, objid) = (1852011874, 1) AND pid = :pid AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Sole(ABC):
    """That no other bot works on a database; `place` is its URL without the password."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self.place = place(url)
        self.lost = asyncio.Event()
        """Set once another bot has taken the database: this one must end."""
        self._told: list[Callable[[], None]] = []

    def when_lost(self, call: Callable[[], None]) -> None:
        """Have something called when `lost` is set."""
        self._told.append(call)

    def lose(self) -> None:
        """Tell everybody that another bot has the database."""
        log.error("another bot has taken the database: nothing more is sent here")
        self.lost.set()
        for call in self._told:
            call()

    @abstractmethod
    async def take(self) -> bool:
        """Try to be the one; tell whether it is so."""

    @abstractmethod
    async def watch(self) -> None:
        """Stay the one, until another is or nothing can change that, or until cancelled."""

    @abstractmethod
    async def release(self) -> None:
        """Let another be the one."""


@asynccontextmanager
async def sole_use(database: str) -> AsyncIterator[Sole]:
    """Be the only bot on the database with that URL as long as the context lasts.

    Raises DatabaseUrlError, DatabaseUnreachableError; DatabaseTakenError where another bot still
    is after some seconds.
    """
    url = build_url(database)
    sole = _OfFile(url) if is_sqlite(url) else _OfSession(url)
    try:
        with reachable(url):
            await _taken(sole)
        yield sole
    finally:
        await sole.release()


async def _taken(sole: Sole) -> None:
    until = asyncio.get_running_loop().time() + WAIT_S
    while not await sole.take():
        if asyncio.get_running_loop().time() >= until:
            raise DatabaseTakenError(sole.place)
        await asyncio.sleep(TRY_EVERY_S)


class _OfFile(Sole):
    """A lock on a file, which nothing but the end of the process takes away."""

    _file: int | None = None

    async def take(self) -> bool:
        self._file = await asyncio.to_thread(_locked, str(self._url.database))
        return self._file is not None

    async def watch(self) -> None:
        """Nothing can change that."""

    async def release(self) -> None:
        if self._file is not None:
            os.close(self._file)


def _locked(database: str) -> int | None:
    file = Path(database).resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(f"{file}{SUFFIX}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        return None
    return opened


class _OfSession(Sole):
    """An advisory lock, which is gone with its connection and then is taken again."""

    def __init__(self, url: URL) -> None:
        super().__init__(url)
        self._engine = create_async_engine(
            url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"server_settings": _KEEPALIVES, "command_timeout": ANSWER_S},
        )
        self._connection: AsyncConnection | None = None
        self._pid: int | None = None

    async def take(self) -> bool:
        if self._connection is None:
            self._connection = await self._engine.connect()
        if not await self._connection.scalar(_TAKE):
            return False
        self._pid = await self._connection.scalar(text("SELECT pg_backend_pid()"))
        return True

    async def watch(self) -> None:
        while not self.lost.is_set():
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self._look()
            except TROUBLE as error:
                log.warning("the bot's lock on the database is lost: %s", type(error).__name__)
                await self._disconnect()

    async def _look(self) -> None:
        """Ask whether the connection lives; take the lock again where it does not."""
        if self._connection is not None:
            await self._connection.scalar(text("SELECT 1"))
        elif await self._again():
            log.warning("the bot has its lock on the database again")
        else:
            self.lose()

    async def _again(self) -> bool:
        """Take the lock on a new connection, also from our own old one that still seems alive."""
        before = self._pid
        if await self.take():
            return True
        if self._connection is None or not await self._connection.scalar(_END_OWN, {"pid": before}):
            return False
        await asyncio.sleep(TRY_EVERY_S)
        return await self.take()

    async def release(self) -> None:
        await self._disconnect()
        await self._engine.dispose()

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                await connection.invalidate()
                await connection.close()
            except TROUBLE as error:
                log.debug("a broken connection: %s", type(error).__name__)
