"""A sync that ends at any statement leaves every leaderboard whole, and the next one mends it."""

import asyncio
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import event

from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.reading import Reading, read_folder
from bot.leaderboards.service import LeaderboardService
from bot.leaderboards.sync import SyncReport, sync
from bot.settings import BotSettings
from bot.storage import boards
from bot.storage.audit import Who
from bot.storage.database import Database, open_database
from tests.leaderboards.repository import COMPETITION, change, make

DIED = "the process died here"


class DiedError(RuntimeError):
    """Stands for the end of the process: nothing of ours runs after it."""


@dataclass
class Bomb:
    """Ends the connection's work at its n-th statement that writes."""

    fuse: int

    def __call__(self, _: object, __: object, statement: str, *___: object) -> None:
        if statement.split(maxsplit=1)[0] not in {"INSERT", "UPDATE", "DELETE"}:
            return
        self.fuse -= 1
        if self.fuse < 0:
            raise DiedError(DIED)


async def stored(database: Database) -> dict[str, Leaderboard]:
    async with database.begin() as session:
        return {board.name: board for board in await boards.load_all(session)}


async def exploding(database: Database, reading: Reading, fuse: int) -> SyncReport | None:
    """Sync until the n-th write; None where it died there."""
    bomb = Bomb(fuse)
    event.listen(database.engine.sync_engine, "before_cursor_execute", bomb)
    try:
        return await sync(database, reading, force=True)
    except DiedError:
        return None
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", bomb)


def old_and_new(tmp_path: Path) -> tuple[Reading, Reading]:
    """Return a repository before and after one leaderboard of each kind of change."""
    root = make(tmp_path / "repository")
    more = "  - {directory: linalg/qr, name: gone, gpus: [H200]}\n"
    (root / "linalg.yaml").write_text(COMPETITION + more)
    old = read_folder(root, "somewhere", "a" * 40)
    change(root / "linalg/qr/reference.py", "# qr", "# changed")
    change(root / "linalg.yaml", "gpus: [H200, B200]", "gpus: [A100]")
    change(root / "linalg.yaml", "name: gone", "name: new")
    return old, read_folder(root, "somewhere", "b" * 40)


async def test_dead_at_every_write_it_is_old_or_new_and_the_next_sync_ends_it(
    database: Database, tmp_path: Path
) -> None:
    old, new = old_and_new(tmp_path)
    await sync(database, old)
    before = await stored(database)
    steps = 0
    while True:
        died = await exploding(database, new, steps) is None
        now = await stored(database)
        check_whole(before, now)
        if not died:
            break
        steps += 1
        await sync(database, old, force=True)
        await restored(database, before)
    assert steps >= 8
    assert now["qr"].gpus == ("A100",)
    assert now["gone"].closed
    assert not (await sync(database, new)).acts


def check_whole(before: dict[str, Leaderboard], now: dict[str, Leaderboard]) -> None:
    """Each leaderboard is entirely what it was, or entirely what it is to be."""
    qr = now["qr"]
    assert (qr.gpus, qr.task.files[2].content, qr.commit) in {
        (("H200", "B200"), "# qr\n", "a" * 40),
        (("A100",), "# changed\n", "b" * 40),
    }
    if "new" in now:
        assert now["new"].gpus == ("H200",)
        assert now["new"].task.files
    assert set(before) <= set(now)


async def restored(database: Database, before: dict[str, Leaderboard]) -> None:
    """Check that the old state is back but for what is never deleted."""
    now = await stored(database)
    assert {name: board.gpus for name, board in now.items() if name in before} == {
        name: board.gpus for name, board in before.items()
    }
    assert not any(now[name].closed for name in before)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from sqlalchemy import event
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.service import LeaderboardService
from bot.settings import BotSettings
from bot.storage.audit import Who
from bot.storage.database import open_database

folder, fuse = Path(sys.argv[1]), int(sys.argv[2])

def bomb(connection, cursor, statement, *rest):
    global fuse
    if statement.split()[0] in {"INSERT", "UPDATE", "DELETE"}:
        fuse -= 1
        if fuse < 0:
            os.kill(os.getpid(), signal.SIGKILL)

async def main():
    settings = BotSettings(data=folder / "data", problems=folder / "repository")
    database = await open_database(settings.database)
    event.listen(database.engine.sync_engine, "after_cursor_execute", bomb)
    service = LeaderboardService(database, Catalogue(), settings)
    await service.sync_folder(settings.problems, Who(origin="command line"))

asyncio.run(main())
"""


@pytest.mark.parametrize("fuse", [0, 1, 3, 5])
async def test_a_process_that_is_killed_leaves_no_lock_and_no_half(
    tmp_path: Path, fuse: int
) -> None:
    make(tmp_path / "repository")
    command = (sys.executable, "-c", KILLED, str(tmp_path), str(fuse))
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == -signal.SIGKILL
    settings = BotSettings(data=tmp_path / "data", problems=tmp_path / "repository")
    database = await open_database(settings.database)
    for board in (await stored(database)).values():
        assert board.gpus
        assert board.task.files
    report = await again(database, settings)
    await database.close()
    assert {*report.created, *report.unchanged} == {"qr", "eigh"}


async def again(database: Database, settings: BotSettings) -> SyncReport:
    service = LeaderboardService(database, Catalogue(), settings)
    report = await service.sync_folder(settings.problems, Who(origin="start"))
    entries = await service.audit.entries()
    outcomes = [entry.outcome for entry in entries]
    await database.close()
    assert outcomes[1:] in ([], ["started"])
    return report
