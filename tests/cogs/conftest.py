"""The real bot in a simulated Discord, with a real runner process over loopback HTTP."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import simcord
from msgspec import structs
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult, ResponseMessage

from bot.client import NcuBot
from bot.embedded import LISTENING, PROGRAM, child_environment
from bot.reports.pictures.values import PictureRequest, Pictures
from bot.reports.pictures.worker import PictureWorker
from bot.services import Services, open_services
from bot.settings import BotSettings
from runner_client.address import RunnerAddress
from runner_client.secret import Secret
from tests.conftest import SHARED
from tests.openapi.description import check
from tests.standin.tools import install

DESCRIPTION = SHARED / "discord" / "openapi.json"
Typed = str | int | None
"""What somebody types into an option; None leaves it out."""
NAME = "submission.py"
TOKEN = "a-token-of-the-tests"
# Well below the 15 s for which aiohttp keeps an idle connection, or SimCord waits for its end too.
SETTLE_S = 9.0


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory, recordings: Path) -> Iterator[RunnerAddress]:
    """Run `ncubot runner` with stand-ins for ncu and nvcc; one for all tests."""
    folder = tmp_path_factory.mktemp("runner")
    tools = install(folder / "bin", recordings)
    settings = {
        "NCUBOT_RUNNER_NCU": str(tools.ncu),
        "NCUBOT_RUNNER_NVCC": str(tools.nvcc),
        "NCUBOT_RUNNER_GPU": "H200",
        "NCUBOT_RUNNER_GRACE_S": "2",
        "NCUBOT_RUNNER_REPLAY_FACTOR": "1",
        "NCUBOT_RUNNER_SELF_TEST": "false",
        "NCUBOT_RUNNER_READ_ONLY": tools.variable,
        "PATH": "/usr/bin:/bin",
    }
    with serving(folder, "local", settings) as address:
        yield address


class serving:  # noqa: N801 - used as a function in `with`
    """A runner process as a context."""

    def __init__(self, folder: Path, engine: str, environ: dict[str, str]) -> None:
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*PROGRAM, "--port", "0", "--data", str(folder / "data"), "--engine", engine],
                stdout=subprocess.PIPE,
                stderr=log,
                env=child_environment(environ, TOKEN),
            )

    def __enter__(self) -> RunnerAddress:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        assert line.startswith(LISTENING), line
        url = line.removeprefix(LISTENING)
        return RunnerAddress(name="embedded", url=url, gpu="H200", token=Secret(TOKEN))

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=30)


@pytest.fixture
def runner_change(request: pytest.FixtureRequest) -> dict[str, object]:
    """Return what a test's parameters change about the runner's address."""
    return dict(getattr(request, "param", {}))


@pytest.fixture
def settings(
    tmp_path: Path, runner: RunnerAddress, runner_change: dict[str, object]
) -> BotSettings:
    """Return settings of a bot with that runner and an empty data folder."""
    address = structs.replace(runner, **runner_change)
    return BotSettings(data=tmp_path / "bot", runners=(address,), runner_patience=2.0)


class Unillustrated(PictureWorker):
    """Draws nothing: most tests are about other things, and a process a test is slow."""

    async def draw(self, request: PictureRequest) -> Pictures:
        return Pictures()


@pytest.fixture
def illustrated() -> bool:
    """Whether replies have pictures; a test module overrides it."""
    return False


@pytest.fixture
async def services(settings: BotSettings, illustrated: bool) -> AsyncIterator[Services]:
    """Open the bot's services on an SQLite file of their own."""
    services = await open_services(settings)
    yield services if illustrated else replace(services, pictures=Unillustrated(settings.data))
    await services.close()


@pytest.fixture
async def simcord_env(services: Services) -> AsyncIterator[simcord.Env]:
    """Bring the bot up in a simulated Discord."""
    env = simcord.Env(NcuBot(services), settle_timeout=SETTLE_S)
    await env.start()
    yield env
    if DESCRIPTION.is_file():
        check(env.http_requests, DESCRIPTION)
    await env.shutdown()
    env._raise_errors_since(env._errors_acknowledged)


@dataclass
class World:
    """A server with one text channel and a registered member."""

    env: simcord.Env
    services: Services
    channel: ChannelHandle
    alice: MemberActor
    defaults: dict[str, Typed] = field(
        default_factory=lambda: dict[str, Typed](leaderboard="qr_v2", gpu="H200", benchmark=0)
    )

    async def profile(
        self, source: str | bytes, name: str = NAME, /, **options: Typed
    ) -> list[ResponseMessage]:
        """Let alice type /profile; None leaves an option out. Return what she got, in order."""
        content = source.encode() if isinstance(source, str) else source
        given = self.defaults | options
        result = await self.alice.slash(
            self.channel,
            "profile",
            submission=(name, content),
            **{key: value for key, value in given.items() if value is not None},
        )
        return messages(result)

    async def refused(
        self, source: str | bytes = "x = 1\n", name: str = NAME, /, **options: Typed
    ) -> str:
        """Let alice type a /profile that is refused; return the one sentence that she gets."""
        (message,) = await self.profile(source, name, **options)
        assert not message.attachments
        return message.content.replace("\\", "")


def messages(result: InteractionResult) -> list[ResponseMessage]:
    """Return everything that answers an interaction; all of it must be private."""
    first = [result.response] if result.response is not None else []
    every = [*first, *result.followups]
    assert all(message.ephemeral for message in every)
    return every


@pytest.fixture
async def world(simcord_env: simcord.Env, services: Services) -> World:
    """Arrange the server and register alice."""
    guild = simcord_env.create_guild("GPU kernels")
    channel = guild.create_text_channel("profiling")
    alice = guild.add_member(simcord_env.create_user("alice"))
    await services.accounts.register(alice.id, "alice")
    return World(simcord_env, services, channel, alice)
