"""Looks at a database without changing anything in it."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import create_async_engine

from bot.storage.database import reachable
from bot.storage.migrate import alembic_config, newest_revision, revision_of
from bot.storage.url import build_url, is_sqlite, place


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseState:
    """Which revision the tables have, None for none, and which one this program needs.

    `upgrades_itself`: the bot brings them up to date when it starts. `place` has no password.
    """

    place: str
    found: str | None
    needed: str
    upgrades_itself: bool


async def inspect_database(text: str) -> DatabaseState:
    """Ask the database at URL `text`; a SQLite file that is not there is not made.

    Raises DatabaseUrlError, DatabaseUnreachableError, DatabaseAheadError.
    """
    url = build_url(text)
    absent = is_sqlite(url) and not await asyncio.to_thread(Path(str(url.database)).exists)
    return DatabaseState(
        place=place(url),
        found=None if absent else await _revision(url),
        needed=await asyncio.to_thread(newest_revision, alembic_config(url)),
        upgrades_itself=is_sqlite(url),
    )


async def _revision(url: URL) -> str | None:
    engine = create_async_engine(url, hide_parameters=True)
    try:
        with reachable(url):
            return await revision_of(engine)
    finally:
        await engine.dispose()
