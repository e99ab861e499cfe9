"""A bot that serves terminals, with a real runner process that replays what a GPU gave."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.services import Services, open_services
from bot.settings import BotSettings, packaged_problems
from bot.web.service import serving
from runner_client.address import RunnerAddress
from runner_client.secret import Secret
from tests.cogs.conftest import serving as serving_runner
from tests.web.client import Terminal

USER = 2**62 + 1
ADMIN_TOKEN = "admin-token-of-the-tests"


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunnerAddress]:
    with serving_runner(tmp_path_factory.mktemp("runner"), "recorded", {}) as address:
        yield address


@pytest.fixture
def settings(tmp_path: Path, runner: RunnerAddress) -> BotSettings:
    return BotSettings(
        data=tmp_path / "data",
        problems=packaged_problems(),
        runners=(runner,),
        web_port=0,
        web_admin_token=Secret(ADMIN_TOKEN),
    )


@pytest.fixture
async def services(settings: BotSettings) -> AsyncIterator[Services]:
    opened = await open_services(settings)
    yield opened
    await opened.close()


@pytest.fixture
async def address(services: Services) -> AsyncIterator[str]:
    async with serving(services) as found:
        assert found is not None
        yield found


@pytest.fixture
async def terminal(services: Services, address: str) -> Terminal:
    """Return a terminal that is linked to a user, as the client and Discord do it."""
    cli_id = (await Terminal(address).get("/auth/init?provider=discord")).json["state"]
    await services.accounts.register(USER, "somebody")
    await services.accounts.link(USER, cli_id)
    return Terminal(address, cli_id)


def submission(problem: str, name: str) -> bytes:
    return (packaged_problems() / problem / "submissions" / name).read_bytes()
