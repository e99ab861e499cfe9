"""Sync of a folder into the tables, through the service that admins use."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from sqlalchemy.exc import OperationalError

from bot.leaderboards.changes import Decision
from bot.leaderboards.check.model import CheckResult
from bot.leaderboards.errors import SourceError, SyncBusy
from bot.leaderboards.lock import alone
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.service import LOCK, Request, outcome
from bot.leaderboards.sync import SyncFault, SyncReport
from bot.settings import packaged_problems
from bot.storage import boards
from bot.storage.database import Session
from tests.leaderboards.repository import COMPETITION, change, make
from tests.leaderboards.syncing import ADMIN, Syncing, commit, plain


async def test_the_first_sync_creates_and_the_second_changes_nothing(
    syncing: Syncing, root: Path
) -> None:
    assert plain(await syncing(root)) == SyncReport(commit=None, created=("qr", "eigh"))
    assert plain(await syncing(root)) == SyncReport(commit=None, unchanged=("qr", "eigh"))
    assert [board.name for board in syncing.catalogue.all()] == ["eigh", "qr"]
    assert syncing.catalogue.get(" QR ") == syncing.catalogue.all()[1]
    assert syncing.catalogue.nearest("qrr") == "qr"
    assert syncing.catalogue.nearest("cholesky") is None


LIGHT = [
    ("linalg.yaml", "gpus: [H200, B200]", "gpus: [H200, B200, A100]", "gpus"),
    ("linalg.yaml", '"2026-12-31"', '"2027-01-01"', "deadline"),
    ("linalg.yaml", '"2026-12-31"', '""', "deadline"),
    ("linalg/qr/task.yml", "benchmark_timeout: 90.5", "benchmark_timeout: 91", "benchmark_timeout"),
    ("linalg/qr/task.yml", "Factorise", "Factorize", "description"),
    ("linalg/qr/template.py", "data", "inputs", "templates"),
]
HEAVY = [
    ("linalg/qr/task.yml", "batch: 20", "batch: 21", "benchmarks"),
    ("linalg/qr/task.yml", "batch: 2,", "batch: 3,", "tests"),
    ("linalg/qr/task.yml", "seed: 7", "seed: 8", "seed"),
    ("linalg/qr/task.yml", "ranking_by: geom", "ranking_by: mean", "ranking_by"),
    ("linalg/qr/reference.py", "# qr", "# changed", "files"),
]


@pytest.mark.parametrize(("file", "old", "new", "field"), LIGHT)
async def test_a_change_is_applied_once_and_named(
    syncing: Syncing, root: Path, file: str, old: str, new: str, field: str
) -> None:
    await syncing(root)
    change(root / file, old, new)
    preview = await syncing(root, dry_run=True)
    report = await syncing(root)
    assert report == preview
    assert plain(report) == SyncReport(commit=None, updated=("qr",), unchanged=("eigh",))
    assert [entry.field for entry in report.changed[0].changes] == [field]
    assert not (await syncing(root)).acts


@pytest.mark.parametrize(("file", "old", "new", "field"), HEAVY)
async def test_a_change_of_what_results_mean_is_held_back_until_forced(
    syncing: Syncing, root: Path, file: str, old: str, new: str, field: str
) -> None:
    await syncing(root)
    before = syncing.board("qr")
    change(root / file, old, new)
    for _ in range(2):
        report = await syncing(root)
        assert (report.updated, report.unchanged) == ((), ("eigh",))
        (skip,) = report.skipped
        assert (skip.name, skip.reason) == ("qr", "needs confirmation")
        assert [entry.field for entry in skip.changes] == [field]
        assert syncing.board("qr") == before
    forced = await syncing(root, force=True)
    assert (forced.updated, forced.skipped) == (("qr",), ())
    assert [entry.field for entry in forced.changed[0].changes] == [field]
    assert syncing.board("qr").version_id != before.version_id
    assert not (await syncing(root)).acts


async def test_the_commit_is_that_of_the_files_which_are_evaluated(
    syncing: Syncing, root: Path
) -> None:
    first = commit(root)
    await syncing(root)
    change(root / "linalg/qr/reference.py", "# qr", "# changed")
    change(root / "linalg/qr/task.yml", "Factorise", "Factorize")
    second = commit(root)
    report = await syncing(root)
    assert (report.commit, report.updated, report.unchanged) == (second, ("qr",), ("eigh",))
    assert [skip.name for skip in report.skipped] == ["qr"]
    assert syncing.board("qr").commit == first
    assert syncing.board("eigh").commit == second
    assert syncing.board("qr").task.description == "Factorize.\n"
    await syncing(root, force=True)
    assert syncing.board("qr").commit == second


async def test_versions_are_kept_with_what_changed(syncing: Syncing, root: Path) -> None:
    await syncing(root)
    change(root / "linalg.yaml", "gpus: [H200, B200]", "gpus: [H200]")
    await syncing(root)
    change(root / "linalg/qr/task.yml", "Factorise", "Factorize")
    await syncing(root)
    change(root / "linalg/qr/task.yml", "seed: 7", "seed: 8")
    await syncing(root, force=True)
    history = await syncing.service.history(syncing.board("qr"))
    assert [state.version.number for state in history.states] == [3, 2, 1]
    assert [[entry.field for entry in state.changes] for state in history.states] == [
        ["seed"],
        ["description"],
        [],
    ]


async def test_a_broken_problem_stops_no_other_and_is_not_closed(
    syncing: Syncing, root: Path
) -> None:
    await syncing(root)
    change(root / "linalg" / "qr" / "task.yml", "lang: py", "lang: cobol")
    report = await syncing(root)
    assert (report.unchanged, report.closed) == (("eigh",), ())
    (fault,) = report.errors
    assert fault.name == "qr"
    assert fault.error.startswith("linalg/qr/task.yml: line 5, `lang`: ")
    assert syncing.catalogue.open_names() == ("eigh", "qr")


async def test_a_problem_that_left_the_yaml_is_closed_and_opens_again(
    syncing: Syncing, root: Path
) -> None:
    await syncing(root)
    text = COMPETITION[: COMPETITION.index("  - directory: linalg/eigh")]
    (root / "linalg.yaml").write_text(text)
    assert (await syncing(root, dry_run=True)).closed == ("eigh",)
    assert (await syncing(root)).closed == ("eigh",)
    assert (await syncing(root)).closed == ()
    assert syncing.catalogue.open_names() == ("qr",)
    (root / "linalg.yaml").write_text(COMPETITION)
    report = await syncing(root)
    assert report.updated == ("eigh",)
    assert report.changed[0].changes[0].detail == "closed → open"


async def test_a_yaml_that_left_closes_its_problems_and_another_sources_stay(
    syncing: Syncing, root: Path, tmp_path: Path
) -> None:
    other = make(tmp_path / "other")
    change(other / "linalg.yaml", "name: qr", "name: other_qr")
    change(other / "linalg.yaml", "name: eigh", "name: other_eigh")
    await syncing(other)
    await syncing(root)
    (root / "linalg.yaml").rename(root / "moved.txt")
    (root / "new.yaml").write_text("name: linalg\nproblems: []\n")
    assert (await syncing(root)).closed == ("eigh", "qr")
    assert syncing.catalogue.open_names() == ("other_eigh", "other_qr")


async def test_another_source_takes_a_name_over_only_when_forced(
    syncing: Syncing, root: Path, tmp_path: Path
) -> None:
    await syncing(root)
    other = make(tmp_path / "other")
    report = await syncing(other)
    assert [skip.reason for skip in report.skipped] == [
        "needs confirmation, it comes from problems"
    ] * 2
    assert not report.acts
    forced = await syncing(other, force=True)
    assert forced.updated == ("qr", "eigh")
    assert syncing.board("qr").source == str(other)
    assert [skip.name for skip in (await syncing(root)).skipped] == ["qr", "eigh"]


async def test_one_problem_set_of_several(syncing: Syncing, root: Path) -> None:
    (root / "linalg.yaml").write_text("name: linalg\nproblems: []\n")
    (root / "amd.yaml").write_text(
        "name: AMD\nproblems: [{directory: linalg/qr, name: fp8, gpus: [MI300]}]\n"
    )
    assert (await syncing(root, problem_set="linalg")).created == ()
    assert (await syncing(root, problem_set="AMD.yaml")).created == ("fp8",)
    assert (await syncing(root, problem_set="linalg")).closed == ()
    with pytest.raises(SourceError, match="no problem set amdd, there are amd, linalg"):
        await syncing(root, problem_set="amdd")


async def test_nothing_closes_where_a_name_cannot_be_read(syncing: Syncing, root: Path) -> None:
    await syncing(root)
    change(root / "linalg.yaml", "    name: eigh\n", "")
    report = await syncing(root)
    assert report.closed == ()
    assert report.errors[0].name == "problems[1]"


async def test_an_unreadable_yaml_closes_nothing_and_stops_no_other(
    syncing: Syncing, root: Path
) -> None:
    await syncing(root)
    (root / "another.yaml").write_text("")
    (root / ".hidden.yaml").write_text("")
    report = await syncing(root)
    assert report.unchanged == ("qr", "eigh")
    assert [fault.name for fault in report.errors] == ["another.yaml"]
    (root / "linalg.yaml").write_text("[]")
    assert (await syncing(root)).closed == ()


async def test_a_name_listed_twice(syncing: Syncing, root: Path) -> None:
    change(root / "linalg.yaml", "name: eigh", "name: QR")
    report = await syncing(root)
    assert report.created == ("qr",)
    assert report.errors == (SyncFault("QR", "listed twice; the first one counts"),)


async def test_a_board_that_another_host_makes_at_that_moment_stops_no_other(
    syncing: Syncing, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, create = boards.find, boards.create

    async def late(session: Session, name: str) -> Leaderboard | None:
        return None if name == "qr" else await find(session, name)

    async def made(
        session: Session, decision: Decision, now: datetime, check: CheckResult | None
    ) -> None:
        if decision.problem.name == "qr":
            await create(session, decision, now, check)
        await create(session, decision, now, check)

    monkeypatch.setattr(boards, "find", late)
    monkeypatch.setattr(boards, "create", made)
    report = await syncing(root)
    assert report.created == ("eigh",)
    assert report.errors == (
        SyncFault("qr", "somebody else made it at the same moment; sync again"),
    )
    monkeypatch.undo()
    assert (await syncing(root)).created == ("qr",)


async def test_a_dry_run_says_it_all_and_does_nothing(syncing: Syncing, root: Path) -> None:
    assert (await syncing(root, dry_run=True)).created == ("qr", "eigh")
    await syncing.service.refresh()
    assert syncing.catalogue.all() == ()
    assert await syncing.service.audit.entries() == ()


async def test_what_an_admin_closed_stays_closed(syncing: Syncing, root: Path) -> None:
    await syncing(root)
    await syncing.service.close("QR", ADMIN)
    assert plain(await syncing(root)) == SyncReport(commit=None, unchanged=("qr", "eigh"))
    change(root / "linalg.yaml", '"2026-12-31"', '""')
    assert (await syncing(root)).updated == ("qr",)
    assert syncing.catalogue.open_names() == ("eigh",)
    await syncing.service.reopen("qr", ADMIN)
    assert syncing.catalogue.open_names() == ("eigh", "qr")
    entries = (await syncing.service.history(syncing.board("qr"))).entries
    assert [entry.action for entry in entries] == ["leaderboard open", "leaderboard close"]


async def test_the_second_of_two_syncs_at_once_is_told_so(syncing: Syncing, root: Path) -> None:
    async with alone(syncing.settings.data / LOCK):
        with pytest.raises(SyncBusy):
            await syncing(root)
    done = await asyncio.gather(syncing(root), syncing(root), return_exceptions=True)
    assert [type(result) for result in done].count(SyncReport) >= 1
    assert {type(result) for result in done} <= {SyncReport, SyncBusy}
    assert [board.name for board in syncing.catalogue.all()] == ["eigh", "qr"]


async def test_every_sync_has_its_row_with_who_what_and_how_it_ended(
    syncing: Syncing, root: Path
) -> None:
    await syncing(root)
    (entry,) = await syncing.service.audit.entries()
    assert (entry.who, entry.action) == (ADMIN, "leaderboard sync")
    assert entry.arguments == {"source": "problems", "commit": None, "force": False}
    assert entry.outcome == "2 created, 0 unchanged: qr, eigh"
    assert entry.ended_at is not None


async def test_the_check_stands_at_each_leaderboard_and_spec_faults_are_warned_of(
    syncing: Syncing, root: Path
) -> None:
    assert (await syncing(root, dry_run=True)).warnings == (
        "qr: task.yml: `masked` is text",
        "eigh: task.yml: `masked` is text",
    )
    await syncing(root)
    check = syncing.board("qr").check
    assert check is not None
    assert check.profile == "ncu"
    change(root / "linalg.yaml", "[H200, B200]", "[MI300]")
    report = await syncing(root)
    assert len(report.warnings) == 2
    check = syncing.board("qr").check
    assert check is not None
    assert check.profile == "not-nvidia"
    await syncing.service.override_check("qr", ADMIN, overridden=True)
    assert syncing.board("qr").check_overridden


async def test_a_checkout_with_a_problems_folder_and_yaml_of_other_tools(
    syncing: Syncing, tmp_path: Path
) -> None:
    make(tmp_path / "checkout" / "problems")
    (tmp_path / "checkout" / "mkdocs.yml").write_text("site_name: x\n")
    assert (await syncing(tmp_path / "checkout")).created == ("qr", "eigh")


async def test_no_folder_and_an_empty_one(syncing: Syncing, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such folder"):
        await syncing(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no competition YAML"):
        await syncing(tmp_path / "empty")


async def ended(task: asyncio.Task[None]) -> None:
    """End what runs beside, and let it give its connection back."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_periodic_sync_says_what_it_did_and_survives_what_it_cannot(
    syncing: Syncing, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    change(root / "linalg/qr/task.yml", "lang: py", "lang: x")
    await syncing.service.sync_once(Request(source="."))
    await syncing.service.sync_once(Request(source="nowhere"))
    assert "periodic sync of problems: 1 created, 1 errors, 0 unchanged: eigh" in caplog.text
    assert "problem qr cannot be used: linalg/qr/task.yml" in caplog.text
    assert "periodic sync of nowhere: nowhere: no such folder" in caplog.text
    (entry,) = await syncing.service.audit.entries()
    assert (entry.who.origin, entry.who.id) == ("periodic", None)


async def test_the_periodic_sync_comes_again_and_again(syncing: Syncing, root: Path) -> None:
    every = timedelta(milliseconds=5)
    running = asyncio.create_task(syncing.service.sync_periodically(Request(source="."), every))
    async with asyncio.timeout(20):
        while len(await syncing.service.audit.entries()) < 3:  # noqa: ASYNC110 - so it polls
            await asyncio.sleep(0.01)
    await ended(running)
    assert syncing.catalogue.open_names() == ("eigh", "qr")


async def test_a_database_that_is_away_for_a_while_ends_neither(
    syncing: Syncing, root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = OperationalError("SELECT 1", None, OSError("connection refused"))
    failing = AsyncMock(side_effect=[away, away, None])
    monkeypatch.setattr(syncing.service.audit, "newest", failing)
    watching = asyncio.create_task(syncing.service.watch(every_s=0.005))
    async with asyncio.timeout(20):
        while failing.await_count < 3:  # noqa: ASYNC110 - the watch itself polls
            await asyncio.sleep(0.005)
    await ended(watching)
    monkeypatch.setattr(syncing.service, "apply", AsyncMock(side_effect=away))
    await syncing.service.sync_once(Request(source="."))
    assert caplog.text.count("connection refused") == 3


async def test_what_another_process_did_is_served(syncing: Syncing, root: Path) -> None:
    watching = asyncio.create_task(syncing.service.watch(every_s=0.01))
    await syncing(root)
    syncing.catalogue.replace(())
    async with syncing.service.audit.about(ADMIN, "somewhere else"):
        pass
    async with asyncio.timeout(10):
        while not syncing.catalogue.all():  # noqa: ASYNC110 - the watch itself polls
            await asyncio.sleep(0.01)
    await ended(watching)


def test_an_outcome_is_one_line() -> None:
    report = SyncReport(commit=None, updated=("a",), closed=("b",), unchanged=("c",))
    assert outcome(report) == "1 updated, 1 closed, 1 unchanged: a, b"


async def test_our_own_sample_problems_load(syncing: Syncing) -> None:
    report = await syncing(packaged_problems())
    assert report.errors == ()
    assert {"qr_v2", "eigh"} <= set(report.created)
