"""Sync of a folder into the tables, through the service that admins use."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.errors import SourceError
from bot.leaderboards.git import head_commit
from bot.leaderboards.service import LeaderboardService
from bot.leaderboards.sync import SyncFault, SyncReport
from bot.settings import packaged_problems
from bot.storage.database import open_database
from tests.leaderboards.repository import COMPETITION, change, make


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.fixture
async def service(tmp_path: Path, catalogue: Catalogue) -> AsyncIterator[LeaderboardService]:
    database = await open_database(f"sqlite:///{tmp_path}/ncubot.db")
    yield LeaderboardService(database, catalogue)
    await database.close()


async def test_the_first_sync_creates_and_the_second_changes_nothing(
    service: LeaderboardService, catalogue: Catalogue, root: Path
) -> None:
    assert await service.sync_folder(root) == SyncReport(commit=None, created=("qr", "eigh"))
    assert await service.sync_folder(root) == SyncReport(commit=None, unchanged=("qr", "eigh"))
    assert [board.name for board in catalogue.all()] == ["eigh", "qr"]
    assert catalogue.get(" QR ") == catalogue.all()[1]
    assert catalogue.nearest("qrr") == "qr"
    assert catalogue.nearest("cholesky") is None


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("linalg.yaml", "gpus: [H200, B200]", "gpus: [H200, B200, A100]"),
        ("linalg.yaml", '"2026-12-31"', '"2027-01-01"'),
        ("linalg.yaml", '"2026-12-31"', '""'),
        ("linalg/qr/task.yml", "batch: 20", "batch: 21"),
        ("linalg/qr/task.yml", "benchmark_timeout: 90.5", "benchmark_timeout: 91"),
        ("linalg/qr/task.yml", "Factorise", "Factorize"),
        ("linalg/qr/reference.py", "# qr", "# changed"),
        ("linalg/qr/template.py", "data", "inputs"),
    ],
)
async def test_a_change_is_applied_once(
    service: LeaderboardService, root: Path, file: str, old: str, new: str
) -> None:
    await service.sync_folder(root)
    change(root / file, old, new)
    expected = SyncReport(commit=None, updated=("qr",), unchanged=("eigh",))
    assert await service.sync_folder(root) == expected
    assert (await service.sync_folder(root)).updated == ()


async def test_a_broken_problem_stops_no_other_and_is_not_closed(
    service: LeaderboardService, catalogue: Catalogue, root: Path
) -> None:
    await service.sync_folder(root)
    change(root / "linalg" / "qr" / "task.yml", "lang: py", "lang: cobol")
    report = await service.sync_folder(root)
    assert (report.unchanged, report.closed) == (("eigh",), ())
    (fault,) = report.errors
    assert fault.name == "qr"
    assert fault.error.startswith("linalg/qr/task.yml: ")
    assert catalogue.open_names() == ("eigh", "qr")


async def test_a_problem_that_left_the_yaml_is_closed_and_opens_again(
    service: LeaderboardService, catalogue: Catalogue, root: Path
) -> None:
    await service.sync_folder(root)
    text = COMPETITION[: COMPETITION.index("  - directory: linalg/eigh")]
    (root / "linalg.yaml").write_text(text)
    assert (await service.sync_folder(root)).closed == ("eigh",)
    assert (await service.sync_folder(root)).closed == ()
    assert catalogue.open_names() == ("qr",)
    (root / "linalg.yaml").write_text(COMPETITION)
    assert (await service.sync_folder(root)).updated == ("eigh",)


async def test_nothing_closes_where_a_name_cannot_be_read(
    service: LeaderboardService, root: Path
) -> None:
    await service.sync_folder(root)
    change(root / "linalg.yaml", "    name: eigh\n", "")
    report = await service.sync_folder(root)
    assert report.closed == ()
    assert report.errors[0].name == "problems[1]"


async def test_an_unreadable_yaml_closes_nothing_and_stops_no_other(
    service: LeaderboardService, root: Path
) -> None:
    await service.sync_folder(root)
    (root / "another.yaml").write_text("")
    report = await service.sync_folder(root)
    assert report.unchanged == ("qr", "eigh")
    assert [fault.name for fault in report.errors] == ["another.yaml"]


async def test_a_name_listed_twice(service: LeaderboardService, root: Path) -> None:
    change(root / "linalg.yaml", "name: eigh", "name: QR")
    report = await service.sync_folder(root)
    assert report.created == ("qr",)
    assert report.errors == (SyncFault("QR", "listed twice; the first one counts"),)


async def test_a_dry_run_says_it_all_and_does_nothing(
    service: LeaderboardService, catalogue: Catalogue, root: Path
) -> None:
    assert (await service.sync_folder(root, dry_run=True)).created == ("qr", "eigh")
    assert catalogue.all() == ()
    await service.sync_folder(root)
    (root / "linalg.yaml").write_text("name: linalg\nproblems: []\n")
    assert (await service.sync_folder(root, dry_run=True)).closed == ("eigh", "qr")
    assert catalogue.open_names() == ("eigh", "qr")


async def test_two_syncs_at_once(service: LeaderboardService, root: Path) -> None:
    reports = await asyncio.gather(service.sync_folder(root), service.sync_folder(root))
    assert [report.created for report in reports] == [("qr", "eigh"), ()]


async def test_a_checkout_with_a_problems_folder(
    service: LeaderboardService, tmp_path: Path
) -> None:
    make(tmp_path / "checkout" / "problems")
    report = await service.sync_folder(tmp_path / "checkout")
    assert report.created == ("qr", "eigh")


async def test_no_folder_and_an_empty_one(service: LeaderboardService, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such folder"):
        await service.sync_folder(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="no competition YAML"):
        await service.sync_folder(tmp_path)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ("git", *who, *arguments), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


async def test_the_commit_is_that_of_the_checkout(service: LeaderboardService, root: Path) -> None:
    assert await head_commit(root) is None
    git(root, "init", "--quiet")
    assert await head_commit(root) is None
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    commit = git(root, "rev-parse", "HEAD")
    assert (await service.sync_folder(root)).commit == commit


async def test_local_edits_belong_to_no_commit(root: Path) -> None:
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    change(root / "linalg.yaml", "gpus: [H200]", "gpus: [A100]")
    assert await head_commit(root) is None


async def test_our_own_sample_problems_load(service: LeaderboardService) -> None:
    report = await service.sync_folder(packaged_problems())
    assert report.errors == ()
    assert {"qr_v2", "eigh"} <= set(report.created)
