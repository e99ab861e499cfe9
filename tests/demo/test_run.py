"""`ncubot run` where it cannot run: one sentence, exit 2, and nothing left behind."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import discord
import pytest
from click.testing import CliRunner

from bot import application
from bot.client import NcuBot
from bot.jobs.errors import DiscordRefused
from bot.settings import BotSettings
from cli.main import main, ncubot
from runner_client.secret import Secret


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Call the console script; it must exit 2; return its one line on stderr."""
    monkeypatch.setattr("sys.argv", ["ncubot", "run", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder without a token."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    monkeypatch.delenv("NCUBOT_DISCORD_TOKEN", raising=False)


def test_a_missing_token_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "set DISCORD_TOKEN" in run(monkeypatch, capsys)


def test_a_missing_settings_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "absent.toml" in run(monkeypatch, capsys, "--config", "absent.toml")


async def test_a_refused_token_is_told_and_the_runner_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: NcuBot, token: str, **_: object) -> None:
        raise discord.LoginFailure(f"no {token}")

    monkeypatch.setattr(NcuBot, "start", refuse)
    settings = BotSettings(data=tmp_path / "data", problems=tmp_path)
    with pytest.raises(DiscordRefused, match="does not accept the token") as refused:
        await application.serve(settings, Secret("a.b.c"))
    assert "a.b.c" not in str(refused.value)


def test_sigterm_ends_the_bot_and_its_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    async def serve_until_told(self: NcuBot, token: str, **_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(50)
        finally:
            closed.append(token)

    monkeypatch.setattr(NcuBot, "start", serve_until_told)
    settings = BotSettings(data=tmp_path / "data", problems=tmp_path)
    application.run_until_stopped(settings, Secret("a.b.c"))
    assert closed == ["a.b.c"]
    assert gc.get_freeze_count()
    gc.unfreeze()


def test_help_names_the_commands() -> None:
    shown = CliRunner().invoke(ncubot, ["--help"]).output
    assert "run " in shown
    assert "demo " in shown
