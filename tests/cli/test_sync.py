"""ncubot sync as somebody types it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.storage.audit import Audit, Entry
from bot.storage.database import open_database
from cli.main import main
from tests.leaderboards.repository import change, make
from tests.leaderboards.syncing import commit, git


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "NCUBOT_DATABASE_URL", "NCUBOT_DATA"):
        monkeypatch.delenv(name, raising=False)
    return make(tmp_path / "repository")


def ncubot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["ncubot", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


EMPTY: dict[str, object] = {
    "commit": None,
    "created": [],
    "updated": [],
    "unchanged": [],
    "closed": [],
    "skipped": [],
    "errors": [],
}


def test_sync_as_json_is_idempotent_and_has_exactly_its_keys(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("sync", str(root), "--format", "json")
    code, out, err = ncubot(monkeypatch, capsys, *arguments)
    assert code == 0
    assert json.loads(out) == EMPTY | {"created": ["qr", "eigh"]}
    assert all(line.startswith("warning: ") for line in err.splitlines())
    _, out, _ = ncubot(monkeypatch, capsys, *arguments)
    assert json.loads(out) == EMPTY | {"unchanged": ["qr", "eigh"]}


def test_held_back_changes_wait_for_force(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ncubot(monkeypatch, capsys, "sync", str(root))
    change(root / "linalg/qr/task.yml", "batch: 20", "batch: 21")
    change(root / "linalg.yaml", '"2026-12-31"', '""')
    arguments = ("sync", str(root), "--format", "json")
    _, out, _ = ncubot(monkeypatch, capsys, *arguments)
    assert json.loads(out) == EMPTY | {
        "updated": ["qr"],
        "unchanged": ["eigh"],
        "skipped": [{"name": "qr", "reason": "needs confirmation"}],
    }
    _, out, _ = ncubot(monkeypatch, capsys, "sync", str(root), "--dry-run", "--force")
    assert "updated    qr\n           benchmarks: changed at 0\nunchanged  eigh\n" in out
    _, out, _ = ncubot(monkeypatch, capsys, *arguments, "--force")
    assert json.loads(out) == EMPTY | {"updated": ["qr"], "unchanged": ["eigh"]}


def test_sync_as_text_and_dry(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        _, out, _ = ncubot(monkeypatch, capsys, "sync", str(root), "--dry-run")
        assert out.startswith("no commit\ncreated    qr\ncreated    eigh\n")


def test_a_git_repository_at_a_branch_and_one_problem_set(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "other.yaml").write_text("name: Other\nproblems: []\n")
    first = commit(root)
    git(root, "branch", "a/b")
    change(root / "linalg.yaml", "name: eigh", "name: later")
    commit(root)
    arguments = (root.as_uri(), "--ref", "a/b", "--problem-set", "linalg", "--format", "json")
    code, out, _ = ncubot(monkeypatch, capsys, "sync", *arguments)
    assert code == 0
    assert json.loads(out) == EMPTY | {"commit": first, "created": ["qr", "eigh"]}


def test_the_audit_table_names_the_systems_user(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOGNAME", "olga")
    ncubot(monkeypatch, capsys, "sync", str(root))

    async def newest() -> Entry:
        database = await open_database("sqlite:///ncubot-data/ncubot.db")
        (entry,) = await Audit(database).entries()
        await database.close()
        return entry

    entry = asyncio.run(newest())
    assert (entry.who.origin, entry.who.name, entry.who.id) == ("command line", "olga", None)


def test_a_broken_problem_ends_with_1_and_its_file_key_and_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change(root / "linalg" / "qr" / "task.yml", "lang: py", "lang: x")
    change(root / "linalg" / "eigh" / "task.yml", "seed: 7", "sede: 7")
    code, out, _ = ncubot(monkeypatch, capsys, "sync", str(root))
    assert code == 1
    assert "error      qr: linalg/qr/task.yml: line 5, `lang`: expected one of py, cu" in out
    assert "created    eigh" in out
    assert (
        "warning    linalg/eigh/task.yml: line 19: unknown key `sede` is ignored; did you mean "
        "`seed`?\n"
    ) in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere: no such folder, and neither a git URL nor owner/name.\n"),
        (("http://example.org/x.git",), "plain http is not read, use https.\n"),
        (("ext::sh -c id",), "neither a git URL nor owner/name.\n"),
        ((".",), "no competition YAML in it.\n"),
        (("repository", "--ref", "--upload-pack=x"), "branch, tag or commit can have.\n"),
        (("repository", "--ref", "x"), "no such repository, or the bot may not read it.\n"),
        (("repository", "--problem-set", "x"), "no problem set x, there are linalg.\n"),
        (("--", "-x"), "expected a folder, a git URL or owner/name.\n"),
    ],
)
def test_a_source_that_is_none(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, out, err = ncubot(monkeypatch, capsys, "sync", *arguments)
    assert (code, out) == (2, "")
    assert err.endswith(said)
    assert err.count("\n") == 1


def test_a_setting_that_is_wrong(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NCUBOT_SYNC_EVERY", "3600")
    code, _, err = ncubot(monkeypatch, capsys, "sync", str(root))
    assert (code, err.count("\n")) == (2, 1)
    assert "sync_every: set sync_source too" in err


def test_it_runs_as_a_program(root: Path) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", "sync", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)
    assert (done.returncode, done.stderr) == (0, "")
