"""ncubot sync and ncubot db as somebody types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main
from tests.leaderboards.repository import change, make


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


def test_sync_as_json_is_idempotent(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("sync", str(root), "--format", "json")
    code, out, err = ncubot(monkeypatch, capsys, *arguments)
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "commit": None,
        "created": ["qr", "eigh"],
        "updated": [],
        "unchanged": [],
        "closed": [],
        "skipped": [],
        "errors": [],
    }
    _, out, _ = ncubot(monkeypatch, capsys, *arguments)
    assert json.loads(out)["unchanged"] == ["qr", "eigh"]


def test_sync_as_text_and_dry(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        _, out, _ = ncubot(monkeypatch, capsys, "sync", str(root), "--dry-run")
        assert out == "no commit\ncreated    qr\ncreated    eigh\n"


def test_a_broken_problem_ends_with_1_and_its_file(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change(root / "linalg" / "qr" / "task.yml", "lang: py", "lang: x")
    code, out, _ = ncubot(monkeypatch, capsys, "sync", str(root))
    assert code == 1
    assert "error      qr: linalg/qr/task.yml: " in out
    assert "created    eigh" in out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nowhere", "ncubot: nowhere: no such folder, and only folders can be synced\n"),
        ("https://example.org/x.git", "only folders can be synced\n"),
        (".", "ncubot: .: no competition YAML in it.\n"),
    ],
)
def test_a_source_that_is_none(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
    said: str,
) -> None:
    code, out, err = ncubot(monkeypatch, capsys, "sync", source)
    assert (code, out) == (2, "")
    assert err.endswith(said)
    assert err.count("\n") == 1


def test_a_setting_that_is_wrong(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NCUBOT_UPLOAD_LIMIT", "much")
    code, _, err = ncubot(monkeypatch, capsys, "sync", str(root))
    assert code == 2
    assert err.startswith("ncubot: NCUBOT_UPLOAD_LIMIT, upload_limit: ")


def test_it_runs_as_a_program(root: Path) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", "sync", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)
    assert (done.returncode, done.stderr) == (0, "")
