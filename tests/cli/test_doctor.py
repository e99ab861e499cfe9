"""`ncubot doctor` as an operator types it."""

import asyncio
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.invite import PERMISSIONS
from cli.main import main
from runner.app import create_app
from runner.settings import EngineName, RunnerSettings
from runner_client.secret import Secret
from tests.client.server import address

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789"
Doctor = Callable[..., tuple[int, str, str]]
Found = dict[str, dict[str, str]]


@pytest.fixture
def doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Doctor:
    """Return a function that runs `ncubot doctor` and gives status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("DISCORD_TOKEN", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NCUBOT_RUNNER_PORT", "1")

    def run(*options: str, **variables: str) -> tuple[int, str, str]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["ncubot", "doctor", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def by_check(out: str) -> Found:
    return {finding["check"]: finding for finding in json.loads(out)}


def test_one_line_a_finding_and_status_1_where_something_is_wrong(doctor: Doctor) -> None:
    status, out, err = doctor(NCUBOT_RUNNER_NCU="no-ncu", NCUBOT_RUNNER_PYTHON="no-python")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert all(line.split()[0] in {"ok", "warning", "problem"} for line in lines)
    (ncu,) = [line for line in lines if line.split()[1] == "ncu"]
    assert ncu.startswith("problem  ncu         `no-ncu` does not run (no-ncu cannot be started")
    assert ncu.endswith("; install Nsight Compute, or name its program in the setting `ncu`")
    assert lines[-1] == "ok       bot         nothing is set for a bot on this machine"


def test_a_machine_of_recordings_and_a_bot_is_well(doctor: Doctor, tmp_path: Path) -> None:
    variables = {"NCUBOT_RUNNER_ENGINE": "recorded", "DISCORD_TOKEN": TOKEN}
    status, out, err = doctor("--format", "json", **variables)
    assert (status, err) == (0, "")
    found = by_check(out)
    assert found["recordings"]["level"] == "ok"
    assert found["token"]["text"] == "a Discord token is set"
    assert found["runners"]["text"] == "none is set: the bot starts one of its own"
    assert "the bot upgrades it when it starts" in found["database"]["text"]
    assert "qr_v2" in found["problems"]["text"]
    invite = found["invite"]["text"]
    assert "https://discord.com/oauth2/authorize?client_id=123456789012345678&" in invite
    assert all(name in invite for name in PERMISSIONS)
    assert "no privileged intents" in invite
    assert TOKEN not in out
    assert not (tmp_path / "ncubot-data" / "ncubot.db").exists()
    assert list((tmp_path / "ncubot-data" / "runner").iterdir()) == []


def test_the_bots_side_alone(doctor: Doctor) -> None:
    status, out, _ = doctor("--only", "bot", "--format", "json")
    assert status == 1
    found = by_check(out)
    assert set(found) == {"token", "invite", "database", "problems", "runners"}
    assert found["token"]["level"] == "problem"
    assert found["token"]["mend"] == "set DISCORD_TOKEN to your bot's"
    assert found["invite"]["level"] == "warning"


def test_what_is_wrong_with_the_bots_side_is_named(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    runner = '[{"name": "h200", "url": "http://127.0.0.1:1", "gpu": "H200"}]'
    status, out, _ = doctor(
        *("--format", "json"),
        DISCORD_TOKEN="no-number-in-it",
        NCUBOT_APPLICATION_ID="5",
        DATABASE_URL="postgresql://ncubot:hush@127.0.0.1:1/ncubot",
        NCUBOT_PROBLEMS=str(tmp_path / "empty"),
        NCUBOT_RUNNERS=runner,
        NCUBOT_RUNNER_PORT="",
    )
    assert status == 1
    found = by_check(out)
    # The settings name a runner elsewhere and nothing of one here.
    assert "ncu" not in found
    assert "client_id=5&" in found["invite"]["text"]
    assert found["database"]["level"] == "problem"
    assert "127.0.0.1:1/ncubot cannot be reached" in found["database"]["text"]
    assert found["problems"]["text"].endswith("no competition YAML in it.")
    assert found["runner h200"]["text"].startswith("Runner h200 does not answer")
    assert "hush" not in out


def test_a_database_that_is_behind_or_ahead(doctor: Doctor, tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415 - for this test alone

    path = tmp_path / "x.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
    database.close()
    status, out, _ = doctor("--only", "bot", "--format", "json", DATABASE_URL=f"sqlite:///{path}")
    assert status == 1
    assert "at revision 9999, which this program does not know" in by_check(out)["database"]["text"]


def test_broken_problems_are_told_one_by_one(doctor: Doctor, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "x").mkdir(parents=True)
    (folder / "a.yaml").write_text(
        "name: a\nproblems:\n  - {directory: x, name: x, gpus: [H200]}\n"
    )
    (folder / "b.yaml").write_text("- no mapping\n")
    _, out, _ = doctor("--only", "bot", "--format", "json", NCUBOT_PROBLEMS=str(folder))
    told = [one for one in json.loads(out) if one["check"] == "problems"]
    assert [one["level"] for one in told] == ["warning", "warning"]
    assert "b.yaml" in told[0]["text"]
    assert "x: " in told[1]["text"]


@contextmanager
def running(settings: RunnerSettings) -> Iterator[int]:
    """Serve a runner in a thread; give its port."""
    ports: list[int] = []
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        service = web.AppRunner(create_app(settings))
        await service.setup()
        await web.TCPSite(service, "127.0.0.1", 0).start()
        ports.append(service.addresses[0][1])
        started.set()
        await stop.wait()
        await service.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(30)
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def test_where_a_runner_serves_its_own_findings_are_shown(doctor: Doctor, tmp_path: Path) -> None:
    settings = RunnerSettings(
        data=tmp_path / "served", engine=EngineName.RECORDED, token=Secret("let-me-in")
    )
    with running(settings) as port:
        variables = {"NCUBOT_RUNNER_PORT": str(port), "NCUBOT_RUNNER_TOKEN": "let-me-in"}
        found: Found = {}
        while "recordings" not in found:
            status, out, _ = doctor("--only", "runner", "--format", "json", **variables)
            found = by_check(out)
        assert status == 0
        assert f"a runner serves on port {port}" in found["service"]["text"]
        # Its own data folder, not the one that these settings name.
        assert str(tmp_path / "served") in found["data"]["text"]
        bot = (
            f'[{{"name": "a", "url": "{address(port).url}", "gpu": "B200", "token": "let-me-in"}}]'
        )
        _, out, _ = doctor("--only", "bot", "--format", "json", NCUBOT_RUNNERS=bot)
        told = [one["text"] for one in json.loads(out) if one["check"] == "runner a"]
        assert told[0] == "H200, 0 queued, 0 running"
        assert told[1] == "the settings call its GPU B200, it says H200"


def test_bad_input_is_one_line_and_status_2(doctor: Doctor, tmp_path: Path) -> None:
    assert doctor("--config", "none.toml")[2].count("\n") == 1
    status, out, err = doctor("--only", "neither")
    assert (status, out) == (2, "")
    assert "--only" in err
    status, out, err = doctor(NCUBOT_RUNNER_TLS_CERT="only-this.pem")
    assert (status, out) == (2, "")
    assert "tls_cert and tls_key: set both or none" in err


def test_a_bot_without_its_libraries_says_so(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.doctor_checks.BOT_LIBRARIES", ("no_such_library",))
    status, out, _ = doctor("--only", "bot")
    assert status == 1
    assert "pip install 'ncubot[bot]'" in out


def test_recordings_that_cannot_be_read_are_a_finding(doctor: Doctor, tmp_path: Path) -> None:
    folder = tmp_path / "recordings" / "one"
    folder.mkdir(parents=True)
    (folder / "recording.json").write_text("{")
    variables = {
        "NCUBOT_RUNNER_ENGINE": "recorded",
        "NCUBOT_RUNNER_RECORDINGS": str(folder.parent),
    }
    status, out, _ = doctor("--only", "runner", "--format", "json", **variables)
    assert status == 1
    assert "recording.json" in by_check(out)["recordings"]["text"]
    shutil.rmtree(folder)
    status, out, _ = doctor("--only", "runner", "--format", "json", **variables)
    assert status == 1
    assert "no recordings in" in by_check(out)["recordings"]["text"]
