"""The console script itself: what is asked for wrongly, and what an install lacks."""

import importlib
import sys
from collections.abc import Callable

import click
import pytest

from cli.main import COMMANDS, EXTRAS, main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `ncubot` and gives status, stdout and stderr."""

    def ncubot(*argv: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ncubot", *argv])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return ncubot


def test_help_lists_every_subcommand(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_no_subcommand_is_bad_input(run: Run) -> None:
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err.startswith("Usage: ncubot")


@pytest.mark.parametrize("argv", [("frob",), ("report",), ("report", "a", "b"), ("--frob",)])
def test_bad_input_is_one_line(run: Run, argv: tuple[str, ...]) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("ncubot: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("module", sorted(EXTRAS))
@pytest.mark.parametrize("name", ["sync", "demo"])
def test_a_missing_extra_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    def lacking() -> None:
        raise ModuleNotFoundError(f"No module named '{module}'", name=f"{module}.part")

    monkeypatch.setattr(importlib.import_module(COMMANDS[name]), "command", click.command(lacking))
    status, out, err = run(name)
    assert (status, out) == (2, "")
    needed = "demo" if name == "demo" else EXTRAS[module]
    assert err == f"ncubot: {module}.part is missing here: pip install 'ncubot[{needed}]'\n"
