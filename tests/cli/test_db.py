"""ncubot db upgrade."""

from pathlib import Path

import pytest

from tests.cli.test_sync import ncubot


def test_upgrade_makes_the_tables_and_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", "sqlite:///here/ncubot.db")
    for _ in range(2):
        code, out, err = ncubot(monkeypatch, capsys, "db", "upgrade")
        assert (code, out, err) == (0, "the database is at revision 0006\n", "")
    assert (tmp_path / "here" / "ncubot.db").is_file()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://u:hush@h/x", "mysql is neither sqlite nor postgresql"),
        ("postgresql://u:hush@127.0.0.1:1/x", "127.0.0.1:1/x cannot be reached"),
    ],
)
def test_what_cannot_be_upgraded_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    url: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", url)
    code, out, err = ncubot(monkeypatch, capsys, "db", "upgrade")
    assert (code, out) == (2, "")
    assert said in err
    assert "hush" not in err
    assert err.count("\n") == 1
