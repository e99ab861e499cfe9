"""`ncubot new`: what it makes passes the check and overwrites nothing."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.leaderboards.check.folder import check_path
from bot.leaderboards.check.model import Verdict
from cli.main import main

New = Callable[..., tuple[int, str, str]]


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> New:
    """Return a function that runs `ncubot new` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ncubot", "new", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.mark.parametrize(
    ("language", "files"),
    [
        ("py", {"eval.py", "utils.py", "reference.py", "task.py", "template.py", "task.yml"}),
        ("cu", {"eval.cu", "task.h", "template.cu", "task.yml"}),
    ],
)
def test_what_it_makes_passes_the_check(
    new: New, tmp_path: Path, language: str, files: set[str]
) -> None:
    status, out, err = new("sets/first", "--lang", language)
    assert (status, err) == (0, "")
    folder = tmp_path / "sets" / "first"
    assert {path.name for path in folder.iterdir()} == files
    assert all(f"sets/first/{name}\n" in out for name in files)
    [found] = check_path(folder)
    assert (found.profile, found.findings) == (Verdict.NCU, ())
    template = (folder / f"template.{language}").read_text()
    assert template.splitlines()[0].endswith("!POPCORN leaderboard first")
    assert not [path for path in folder.iterdir() if "saxpy_cuda" in path.read_text()]


def test_the_printed_listing_is_a_competition_yaml(new: New, tmp_path: Path) -> None:
    _, out, _ = new("first")
    listing = out[out.index("problems:") :]
    (tmp_path / "set.yaml").write_text(f"name: Set\n{listing}")
    [found] = check_path(tmp_path)
    assert (found.leaderboard, found.profile) == ("first", Verdict.NCU)


def test_python_is_the_default_and_nothing_is_overwritten(new: New, tmp_path: Path) -> None:
    assert new("first")[0] == 0
    (tmp_path / "first" / "eval.py").write_text("mine")
    status, out, err = new("first")
    assert (status, out) == (2, "")
    assert err == "ncubot: first: is there already, and nothing was changed.\n"
    assert (tmp_path / "first" / "eval.py").read_text() == "mine"


@pytest.mark.parametrize("name", ["-x", "a b", "..", "ä", "x/", "a\nb", ".hidden"])
def test_names_that_cannot_be_used(new: New, tmp_path: Path, name: str) -> None:
    status, _, err = new("--", name)
    if name == "x/":
        assert status == 0
        return
    assert status == 2
    assert err.count("\n") == 1
    assert "expected a name of letters" in err
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(new: New, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, _, err = new("file/first")
    assert status == 2
    assert "file/first: " in err
