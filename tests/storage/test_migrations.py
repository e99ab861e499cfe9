"""The migrations, on both databases, and what happens to a database that does not fit."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, bindparam, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from bot.storage.database import create_engine, open_database, upgrade_database
from bot.storage.errors import (
    DatabaseAheadError,
    DatabaseBehindError,
    DatabaseUnreachableError,
    DatabaseUrlError,
)
from bot.storage.migrate import alembic_config, newest_revision
from bot.storage.tables import Base, LeaderboardRow
from bot.storage.types import UtcDateTime
from bot.storage.url import build_url
from bot.wording import sentence
from tests.postgresql import Server


@pytest.fixture
def url(empty_database_url: str) -> str:
    return empty_database_url


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, Base.metadata))


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names()) - {"alembic_version"}


async def test_up_down_and_up_again_ends_at_the_models(url: str) -> None:
    config = alembic_config(build_url(url))
    engine = create_engine(build_url(url))
    await asyncio.to_thread(command.upgrade, config, "head")
    await asyncio.to_thread(command.downgrade, config, "base")
    async with engine.connect() as connection:
        assert await connection.run_sync(table_names) == set()
    await asyncio.to_thread(command.upgrade, config, "head")
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
        assert await connection.run_sync(table_names) == set(Base.metadata.tables)
    await engine.dispose()


async def test_boards_of_the_first_release_stay_and_say_nothing_of_their_source(url: str) -> None:
    config = alembic_config(build_url(url))
    engine = create_engine(build_url(url))
    await asyncio.to_thread(command.upgrade, config, "0001")
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO leaderboards (id, key, name, competition, directory, created_at) "
                "VALUES (1, 'qr', 'QR', 'linalg', 'linalg/qr', :now)"
            ).bindparams(bindparam("now", datetime(2026, 9, 1, tzinfo=UTC), UtcDateTime())),
        )
    await asyncio.to_thread(command.upgrade, config, "head")
    async with AsyncSession(engine) as session:
        (row,) = await session.scalars(select(LeaderboardRow))
        assert (row.name, row.source, row.problem_set) == ("QR", None, "")
        assert (row.closed_by, row.check_overridden, row.check_result) == (None, False, None)
    await engine.dispose()


async def test_every_constraint_has_a_name_from_the_rule(url: str) -> None:
    await upgrade_database(url)
    engine = create_engine(build_url(url))

    def unnamed(connection: Connection) -> list[object]:
        tables = inspect(connection)
        return [
            key
            for table in Base.metadata.tables
            for key in (*tables.get_foreign_keys(table), *tables.get_unique_constraints(table))
            if not str(key["name"]).startswith(("fk_", "uq_"))
        ]

    async with engine.connect() as connection:
        assert await connection.run_sync(unnamed) == []
    await engine.dispose()


async def test_sqlite_upgrades_itself(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path}/a%20b/ncubot.db")
    async with database.begin() as session:
        found = await session.scalar(text("SELECT version_num FROM alembic_version"))
    await database.close()
    assert found == newest_revision(alembic_config(build_url("sqlite:///x")))


async def test_postgresql_that_is_behind_is_refused_with_the_command(postgresql: Server) -> None:
    url = postgresql.url(postgresql.create())
    with pytest.raises(DatabaseBehindError) as behind:
        await open_database(url)
    newest = newest_revision(alembic_config(build_url(url)))
    assert sentence(behind.value) == (
        f"The database is empty and revision {newest} is needed: run `ncubot db upgrade`."
    )
    assert await upgrade_database(url) == newest
    await (await open_database(url)).close()


async def test_a_database_of_a_newer_program_is_left_alone(url: str) -> None:
    await upgrade_database(url)
    engine = create_engine(build_url(url))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    for opened in (open_database, upgrade_database):
        with pytest.raises(DatabaseAheadError):
            await opened(url)


@pytest.mark.parametrize(
    ("text_", "driver", "query"),
    [
        ("sqlite:////data/ncubot.db", "sqlite+aiosqlite", {}),
        ("postgres://bot:pw@db/ncubot", "postgresql+asyncpg", {}),
        ("postgresql://bot@db/x?sslmode=require", "postgresql+asyncpg", {"ssl": "require"}),
        ("postgresql+asyncpg://bot@db/x", "postgresql+asyncpg", {}),
    ],
)
def test_urls(text_: str, driver: str, query: dict[str, str]) -> None:
    url = build_url(text_)
    assert (url.drivername, dict(url.query)) == (driver, query)


@pytest.mark.parametrize("text_", ["", "secret-word", "mysql://u:secret-word@h/x", "sqlite://"])
def test_urls_that_name_no_usable_database(text_: str) -> None:
    with pytest.raises(DatabaseUrlError) as wrong:
        build_url(text_)
    assert "secret-word" not in sentence(wrong.value)


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(DatabaseUnreachableError) as lost:
        await open_database("postgresql://bot:secret-word@127.0.0.1:1/ncubot")
    said = sentence(lost.value)
    assert "127.0.0.1:1/ncubot cannot be reached" in said
    assert "secret-word" not in said


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "ncubot.db"
    await asyncio.to_thread(file.write_bytes, b"not a database" * 100)
    with pytest.raises(DatabaseUnreachableError, match="not a database"):
        await open_database(f"sqlite:///{file}")
