"""Every number that identifies something has 64 bits, in both databases."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Column, Integer, inspect, select
from sqlalchemy.orm import DeclarativeBase

from bot.storage.database import Database
from bot.storage.tables import (
    AuditRow,
    Base,
    JobPhaseRow,
    JobRow,
    LeaderboardGpuRow,
    LeaderboardRow,
    UserRow,
    VersionRow,
)

LARGEST = 2**63 - 1
JOB = "f" * 32
NOW = datetime(2026, 9, 1, tzinfo=UTC)
NARROW = {"number", "position"}
"""Columns that count within a row's parent."""


def rows() -> tuple[DeclarativeBase, ...]:
    return (*board_rows(), *job_rows())


def board_rows() -> tuple[DeclarativeBase, ...]:
    return (
        UserRow(id=LARGEST, name="somebody", created_at=NOW),
        LeaderboardRow(
            id=LARGEST,
            key="qr",
            name="qr",
            competition="c",
            directory="d",
            created_at=NOW,
            closed_by=LARGEST,
        ),
        LeaderboardGpuRow(leaderboard_id=LARGEST, name="H200", position=0),
        VersionRow(
            id=LARGEST,
            leaderboard_id=LARGEST,
            number=1,
            task="{}",
            config_sha256="",
            created_at=NOW,
        ),
    )


def job_rows() -> tuple[DeclarativeBase, ...]:
    return (
        JobRow(
            id=JOB,
            user_id=LARGEST,
            version_id=LARGEST,
            leaderboard="qr",
            gpu="H200",
            runner="r1",
            file_name="a.py",
            submission=b"",
            submission_sha256="",
            config_sha256="",
            options="{}",
            benchmarks="[]",
            notes="[]",
            channel_id=LARGEST,
            guild_id=LARGEST,
            phase="accepted",
            phase_at=NOW,
            created_at=NOW,
        ),
        JobPhaseRow(id=LARGEST, job_id=JOB, phase="accepted", at=NOW),
        AuditRow(
            id=LARGEST,
            at=NOW,
            origin="discord",
            actor=LARGEST,
            actor_name="",
            guild_id=LARGEST,
            action="x",
            arguments="{}",
            outcome="done",
        ),
    )


async def test_the_largest_number_comes_back_from_every_id(database: Database) -> None:
    for row in rows():
        async with database.begin() as session:
            session.add(row)
    for row in rows():
        kind = type(row)
        numbers = {
            column.key
            for column in inspect(kind).columns
            if isinstance(column.type, Integer) and column.key not in NARROW
        }
        assert numbers, kind
        async with database.begin() as session:
            (stored,) = await session.scalars(select(kind))
            given = {name: getattr(row, name) for name in numbers}
            assert {name: getattr(stored, name) for name in numbers} == given
            assert LARGEST in given.values()


def test_no_id_is_narrow() -> None:
    narrow = [
        f"{table.name}.{column.name}"
        for table in Base.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, Integer) and not isinstance(column.type, BigInteger)
        if column.foreign_keys or column.name.endswith("_id") or _is_counted(column)
    ]
    assert narrow == []


def _is_counted(column: Column[object]) -> bool:
    return column.primary_key and column.autoincrement is not False


async def test_what_the_database_counts_up_passes_the_32_bits(database: Database) -> None:
    async with database.begin() as session:
        session.add(_audit(2**31 - 1))
    if database.engine.dialect.name == "postgresql":
        async with database.engine.begin() as connection:
            await connection.exec_driver_sql("SELECT setval('audit_id_seq', 2147483647)")
    async with database.begin() as session:
        row = _audit(None)
        session.add(row)
        await session.flush()
        assert row.id == 2**31


def _audit(number: int | None) -> AuditRow:
    return AuditRow(
        id=number, at=NOW, origin="x", actor_name="", action="x", arguments="{}", outcome=""
    )
