"""Alembic, driven from the program: find the tables' revision, bring them up to date."""

import asyncio
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.storage.errors import DatabaseAheadError, DatabaseBehindError


def alembic_config(url: URL) -> Config:
    """Configure Alembic for one database; migrations/env.py reads the URL from it."""
    config = Config()
    # Alembic takes % for an interpolation.
    config.set_main_option("script_location", str(files("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["url"] = url
    return config


def newest_revision(config: Config) -> str:
    """Return the revision that this program was written for."""
    head = ScriptDirectory.from_config(config).get_current_head()
    if head is None:
        raise RuntimeError("no migrations are installed")
    return head


def _found(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


async def revision_of(engine: AsyncEngine) -> str | None:
    """Return the tables' revision, None where there are none. Raises DatabaseAheadError."""
    async with engine.connect() as connection:
        found = await connection.run_sync(_found)
    if found is not None and not await asyncio.to_thread(_knows, alembic_config(engine.url), found):
        raise DatabaseAheadError(found)
    return found


async def make_current(engine: AsyncEngine, *, upgrade: bool) -> str:
    """Upgrade the tables, or refuse those that are behind; return their revision.

    Raises DatabaseBehindError and DatabaseAheadError.
    """
    config = alembic_config(engine.url)
    newest = await asyncio.to_thread(newest_revision, config)
    found = await revision_of(engine)
    if found == newest:
        return newest
    if not upgrade:
        raise DatabaseBehindError(found, newest)
    await asyncio.to_thread(command.upgrade, config, "head")
    return newest


def _knows(config: Config, revision: str) -> bool:
    scripts = ScriptDirectory.from_config(config)
    return any(script.revision == revision for script in scripts.walk_revisions())
