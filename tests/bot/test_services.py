"""Opening the services, sharing them among the cogs of one bot, and closing them."""

import asyncio
import logging
from pathlib import Path

import pytest

from bot.leaderboards.lock import alone
from bot.leaderboards.service import LOCK
from bot.services import acquire, open_services, provide, release
from bot.settings import BotSettings
from bot.storage.errors import DatabaseTakenError, DatabaseUrlError
from runner_client.secret import Secret
from tests.leaderboards.repository import change, make


class Host:
    """Any bot."""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "repository")
    text = '[bot]\nproblems = "repository"\n[[bot.runners]]\nname = "a"\n'
    (tmp_path / "ncubot.toml").write_text(text + 'url = "http://127.0.0.1:1"\ngpu = "H200"\n')
    return tmp_path


async def test_problems_are_loaded_at_start(configured: Path) -> None:
    settings = BotSettings(data=configured / "data", problems=configured / "repository")
    services = await open_services(settings)
    assert services.catalogue.open_names() == ("eigh", "qr")
    assert services.runners.gpus() == ()
    await services.close()


async def test_a_broken_problem_is_logged_and_leaves_the_rest(
    configured: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(configured / "repository" / "linalg" / "qr" / "task.yml", "lang: py", "lang: x")
    settings = BotSettings(data=configured / "data", problems=configured / "repository")
    with caplog.at_level(logging.WARNING):
        services = await open_services(settings)
    assert services.catalogue.open_names() == ("eigh",)
    assert "problem qr cannot be used: linalg/qr/task.yml" in caplog.text
    await services.close()


async def test_no_problems_folder_is_no_reason_not_to_start(
    configured: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = BotSettings(data=configured / "data", problems=configured / "absent")
    services = await open_services(settings)
    assert services.catalogue.all() == ()
    assert "no such folder" in caplog.text
    await services.close()


async def test_what_runs_beside_ends_when_the_services_close(configured: Path) -> None:
    settings = BotSettings(
        data=configured / "data",
        problems=configured / "repository",
        sync_every=60,
        sync_source="owner/name",
    )
    before = asyncio.all_tasks()
    services = await open_services(settings)
    names = {getattr(task.get_coro(), "__name__", "") for task in asyncio.all_tasks() - before}
    assert {"watch", "sync_periodically"} <= names
    await services.close()
    assert asyncio.all_tasks() == before


async def test_another_sync_at_start_is_no_reason_not_to_start(
    configured: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = BotSettings(data=configured / "data", problems=configured / "repository")
    async with alone(settings.data / LOCK):
        services = await open_services(settings)
    assert "Another sync is under way" in caplog.text
    await services.close()


async def test_a_database_that_cannot_be_used(configured: Path) -> None:
    with pytest.raises(DatabaseUrlError):
        await open_services(BotSettings(database_url=Secret("mysql://h/x")))


async def test_cogs_of_one_bot_share_and_the_last_one_closes(
    configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.sole.WAIT_S", 0.0)
    host, other = Host(), Host()
    first, second = await asyncio.gather(acquire(host), acquire(host))
    with pytest.raises(DatabaseTakenError):
        await acquire(other)
    with monkeypatch.context() as patch:
        patch.setenv("NCUBOT_DATA", str(configured / "other"))
        apart = await acquire(other)
    assert first is second
    assert apart is not first
    await release(host)
    assert await acquire(host) is first
    await release(host)
    await release(host)
    assert await acquire(host) is not first
    await release(host)
    await release(other)
    await release(other)


async def test_services_that_were_provided_stay_open(configured: Path) -> None:
    host = Host()
    services = await open_services(
        BotSettings(data=configured / "data", problems=configured / "repository")
    )
    provide(host, services)
    assert await acquire(host) is services
    await release(host)
    assert not await services.accounts.is_registered(1)
    assert await acquire(host) is services
    await services.close()
