"""One bot on one database, on both kinds of database."""

import asyncio
from pathlib import Path

import pytest

from bot.storage import sole
from bot.storage.database import open_database
from bot.storage.errors import DatabaseTakenError
from bot.storage.sole import Sole, sole_use

on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
OTHER_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sole, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(sole, "TRY_EVERY_S", 0.05)


async def test_a_second_bot_is_refused_until_the_first_has_ended(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sole_use(database_url):
        monkeypatch.setattr(sole, "WAIT_S", 0.2)
        with pytest.raises(DatabaseTakenError):
            async with sole_use(database_url):
                pass
        monkeypatch.setattr(sole, "WAIT_S", 20.0)
        next_one = asyncio.create_task(enter(database_url))
        await asyncio.sleep(0.1)
        assert not next_one.done()
    await next_one


async def enter(database_url: str) -> None:
    async with sole_use(database_url):
        pass


async def test_another_name_of_the_same_file_is_the_same_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sole, "WAIT_S", 0.0)
    (tmp_path / "other").symlink_to(tmp_path)
    async with sole_use(f"sqlite:///{tmp_path}/a.db"), sole_use(f"sqlite:///{tmp_path}/b.db"):
        with pytest.raises(DatabaseTakenError):
            await enter(f"sqlite:///{tmp_path}/other/a.db")


async def end_sessions(database_url: str) -> None:
    database = await open_database(database_url)
    async with database.engine.connect() as connection:
        await connection.exec_driver_sql(OTHER_SESSIONS)
    await database.close()


async def until_logged(caplog: pytest.LogCaptureFixture, words: str) -> None:
    while words not in caplog.text:  # noqa: ASYNC110 - nothing but the log tells
        await asyncio.sleep(0.01)


@on_postgresql
async def test_a_lost_lock_is_taken_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sole, "WAIT_S", 0.0)
    async with sole_use(database_url) as first:
        watching = asyncio.create_task(first.watch())
        await end_sessions(database_url)
        await until_logged(caplog, "has its lock on the database again")
        assert "lock on the database is lost" in caplog.text
        with pytest.raises(DatabaseTakenError):
            await enter(database_url)
        assert not first.lost.is_set()
        watching.cancel()


@on_postgresql
async def test_a_session_of_our_own_that_seems_alive_is_ended(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with sole_use(database_url) as first:
        cut_off = first._connection  # type: ignore[attr-defined]
        first._connection = None  # type: ignore[attr-defined]
        watching = asyncio.create_task(first.watch())
        await until_logged(caplog, "has its lock on the database again")
        watching.cancel()
        await cut_off.invalidate()
        await cut_off.close()


@on_postgresql
async def test_who_has_lost_the_database_to_another_bot_is_told(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with sole_use(database_url) as first:
        await first._disconnect()  # type: ignore[attr-defined]
        async with sole_use(database_url) as second:
            await asyncio.wait_for(first.watch(), 20)
            assert (first.lost.is_set(), second.lost.is_set()) == (True, False)
    assert "another bot has taken the database" in caplog.text


@on_postgresql
async def test_a_database_that_is_away_for_a_while_costs_the_lock_to_nobody(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with sole_use(database_url) as first:
        take, left = type(first).take, [2]

        async def away(self: Sole) -> bool:
            if left[0]:
                left[0] -= 1
                raise OSError("no route to the database")
            return await take(self)

        monkeypatch.setattr(type(first), "take", away)
        watching = asyncio.create_task(first.watch())
        await end_sessions(database_url)
        await until_logged(caplog, "has its lock on the database again")
        assert not first.lost.is_set()
        watching.cancel()
