"""Every storage test runs on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from bot.storage.database import Database, open_database


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = await open_database(database_url)
    yield opened
    await opened.close()
