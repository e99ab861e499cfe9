"""Every storage test runs on SQLite and on PostgreSQL."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from bot.storage.database import Database, open_database, upgrade_database
from tests.storage.postgresql import running


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with running() as query:
        yield query


async def new_database(server: str) -> str:
    """Make an empty PostgreSQL database and return its URL."""
    name = f"t{uuid.uuid4().hex}"
    connection = await asyncpg.connect(f"postgresql://ncubot@/postgres?{server}")
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return f"postgresql://ncubot@/{name}?{server}"


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/new/ncubot.db"
    return await new_database(request.getfixturevalue("server"))


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await upgrade_database(url)
    opened = await open_database(url)
    yield opened
    await opened.close()
