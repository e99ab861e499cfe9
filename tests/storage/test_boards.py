"""Leaderboards and the audit table in both databases."""

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec import structs
from sqlalchemy import select

from bot.leaderboards.changes import Change, Decision
from bot.leaderboards.check.model import CheckResult, Finding, Verdict
from bot.leaderboards.model import Leaderboard, Problem, ProblemFile, Task
from bot.storage import boards
from bot.storage.audit import Audit, Who
from bot.storage.database import Database
from bot.storage.tables import VersionRow
from runner_client.wire import PythonEvaluator

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
TASK = Task(
    files=(ProblemFile("eval.py", "print()"), ProblemFile("submission.py", None)),
    evaluator=PythonEvaluator(main="eval.py"),
    description="a task",
    benchmarks=({"n": 32, "masked": True, "dims": [1, 2], "kind": "dense"},),
)
QR = Problem(
    name="QR_v2",
    competition="linalg",
    problem_set="linalg",
    directory="linalg/qr_v2",
    deadline=NOW,
    gpus=("H200", "B200"),
    task=TASK,
)
CHECK = CheckResult(Verdict.NOT_IMPLEMENTED, (Finding("dispatch", "eval.py", 3, "no profile"),))
ADA = Who(origin="discord", id=2**63 - 1, name="ada", guild_id=7)


def decision(problem: Problem = QR, commit: str | None = None) -> Decision:
    return Decision(Change.CREATED, problem, "https://h/x", commit)


async def create(database: Database, problem: Problem = QR, commit: str | None = None) -> None:
    async with database.begin() as session:
        await boards.create(session, decision(problem, commit), NOW, CHECK)


async def change(database: Database, problem: Problem, commit: str | None = None) -> None:
    async with database.begin() as session:
        stored = await boards.find(session, problem.name)
        assert stored is not None
        await boards.change(session, stored, decision(problem, commit), NOW, None)


async def all_boards(database: Database) -> tuple[Leaderboard, ...]:
    async with database.begin() as session:
        return await boards.load_all(session)


async def test_a_board_comes_back_as_it_was_stored(database: Database) -> None:
    await create(database, commit="a" * 40)
    (board,) = await all_boards(database)
    assert board == Leaderboard(
        id=board.id,
        version_id=board.version_id,
        name="QR_v2",
        competition="linalg",
        problem_set="linalg",
        directory="linalg/qr_v2",
        deadline=NOW,
        closed=False,
        gpus=("H200", "B200"),
        source="https://h/x",
        commit="a" * 40,
        task=TASK,
        check=CHECK,
    )
    assert list(board.task.benchmarks[0]) == ["n", "masked", "dims", "kind"]
    async with database.begin() as session:
        assert await boards.find(session, "qr_V2") == board
        assert await boards.find(session, "other") is None


@pytest.mark.parametrize(
    "changed",
    [
        structs.replace(QR, gpus=("H200",)),
        structs.replace(QR, gpus=("B200", "H200")),
        structs.replace(QR, deadline=None),
        structs.replace(QR, name="qr_v2"),
        structs.replace(QR, competition="other", problem_set="x", directory="y"),
        structs.replace(QR, task=structs.replace(TASK, description="new")),
        structs.replace(QR, task=structs.replace(TASK, benchmarks=({"n": 64},))),
    ],
)
async def test_a_change_is_stored_whole(database: Database, changed: Problem) -> None:
    await create(database)
    await change(database, changed, "b" * 40)
    (board,) = await all_boards(database)
    for field in ("name", "competition", "problem_set", "directory", "deadline", "gpus", "task"):
        assert getattr(board, field) == getattr(changed, field)
    assert (board.commit, board.check) == ("b" * 40, CHECK)


async def test_a_changed_task_is_a_new_version_and_the_old_one_stays(database: Database) -> None:
    await create(database, commit="a" * 40)
    (old,) = await all_boards(database)
    await change(database, structs.replace(QR, gpus=("H200",)))
    assert (await all_boards(database))[0].version_id == old.version_id
    await change(database, structs.replace(QR, task=structs.replace(TASK, seed=3)), "b" * 40)
    (new,) = await all_boards(database)
    assert new.version_id != old.version_id
    async with database.begin() as session:
        assert await boards.load_task(session, old.version_id) == TASK
        with pytest.raises(LookupError):
            await boards.load_task(session, 12345)
        kept = await boards.versions(session, new.id, 10)
        assert [(version.number, version.commit) for version in kept] == [
            (2, "b" * 40),
            (1, "a" * 40),
        ]
        assert len(await boards.versions(session, new.id, 1)) == 1


async def test_tasks_that_are_known_are_not_read_again(database: Database) -> None:
    await create(database)
    (board,) = await all_boards(database)
    known = structs.replace(TASK, description="from memory")
    async with database.begin() as session:
        (again,) = await boards.load_all(session, {board.version_id: known})
    assert again.task is known


async def test_closing_and_opening(database: Database) -> None:
    await create(database)
    (board,) = await all_boards(database)
    async with database.begin() as session:
        await boards.close(session, [board.id], NOW, ADA.id)
        await boards.override_check(session, board.id, overridden=True)
    (closed,) = await all_boards(database)
    assert (closed.closed, closed.closed_by, closed.check_overridden) == (True, ADA.id, True)
    await change(database, structs.replace(QR, deadline=None))
    assert (await all_boards(database))[0].closed
    async with database.begin() as session:
        await boards.reopen(session, board.id)
    (opened,) = await all_boards(database)
    assert (opened.closed, opened.closed_by) == (False, None)
    async with database.begin() as session:
        await boards.close(session, [board.id], NOW, None)
    await change(database, QR)
    assert not (await all_boards(database))[0].closed


async def test_the_same_at_another_commit_is_only_noted(database: Database) -> None:
    await create(database, commit="a" * 40)
    (board,) = await all_boards(database)
    async with database.begin() as session:
        await boards.note_commit(session, [board.id], "b" * 40)
    assert await all_boards(database) == (structs.replace(board, commit="b" * 40),)


async def test_of_two_that_make_a_board_at_once_one_does(database: Database) -> None:
    async def made() -> bool:
        try:
            await create(database)
        except boards.AtOnceError:
            return False
        return True

    assert sorted(await asyncio.gather(*(made() for _ in range(4)))) == [False] * 3 + [True]
    async with database.begin() as session:
        assert len((await session.scalars(select(VersionRow))).all()) == 1


async def test_fifty_readers_and_one_sync_lose_no_board(database: Database) -> None:
    for number in range(5):
        await create(database, structs.replace(QR, name=f"qr{number}"))
    readers = [all_boards(database) for _ in range(50)]
    *seen, _ = await asyncio.gather(*readers, change(database, structs.replace(QR, name="qr3")))
    assert {len(boards_) for boards_ in seen if boards_ is not None} == {5}


async def test_a_failed_unit_of_work_leaves_nothing(database: Database) -> None:
    async def broken() -> None:
        async with database.begin() as session:
            await boards.create(session, decision(), NOW, None)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await broken()
    assert await all_boards(database) == ()


async def test_the_audit_table_says_who_when_what_and_how_it_ended(database: Database) -> None:
    audit = Audit(database)
    assert await audit.newest() is None
    async with audit.about(ADA, "leaderboard close", "QR_v2", {"why": "cheating"}) as note:
        (under_way,) = await audit.entries()
        assert (under_way.outcome, under_way.ended_at) == ("started", None)
        note.outcome = "closed"
    (entry,) = await audit.entries("qr_V2")
    assert (entry.who, entry.action, entry.subject) == (ADA, "leaderboard close", "qr_v2")
    assert (entry.arguments, entry.outcome) == ({"why": "cheating"}, "closed")
    assert entry.ended_at is not None
    assert entry.at <= entry.ended_at == await audit.newest()
    assert await audit.entries("other") == ()


async def test_what_fails_is_in_the_audit_table_too(database: Database) -> None:
    audit = Audit(database)

    async def fail() -> None:
        async with audit.about(Who(origin="command line"), "leaderboard sync"):
            raise LookupError("a secret detail")

    with pytest.raises(LookupError):
        await fail()
    (entry,) = await audit.entries()
    assert entry.outcome == "failed: LookupError"
