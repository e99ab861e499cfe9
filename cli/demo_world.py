"""The demo's world: a simulated Discord with the real cogs, and a real runner process."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import simcord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.preview import Preview
from simcord.results import ResponseMessage

from bot.client import NcuBot
from bot.embedded import embedded_runner
from bot.services import open_services
from bot.settings import BotSettings, packaged_problems
from bot.web.service import serving

ENGINE_LOCAL = "local"
ENGINE_RECORDED = "recorded"
# SimCord waits this long for the bot to come to rest after each action: longer than a job takes.
# Above the 15 s for which aiohttp keeps an idle connection it waits for the end of those too.
SETTLE_S = {ENGINE_LOCAL: 1_200.0, ENGINE_RECORDED: 14.0}
LEADERBOARD = "qr_v2"
SAMPLE = Path("linalg/qr_v2/submissions/starter.py")
BENCHMARK = 0


def engine_here() -> str:
    """Return `local` where ncu and a GPU driver are found, else `recorded`."""
    found = shutil.which("ncu") and shutil.which("nvidia-smi")
    return ENGINE_LOCAL if found else ENGINE_RECORDED


@dataclass(frozen=True, slots=True)
class World:
    """A channel of a simulated server and one member in it; terminals are served at `web`."""

    env: simcord.Env
    channel: ChannelHandle
    member: MemberActor
    gpu: str
    sample: Path
    web: str | None

    @property
    def invocation(self) -> str:
        """What the member types."""
        return (
            f"/profile submission:{self.sample.name} leaderboard:{LEADERBOARD} gpu:{self.gpu} "
            f"benchmark:{BENCHMARK}"
        )

    async def register(self) -> None:
        """Type /register."""
        await self.member.slash(self.channel, "register")

    async def profile(self) -> list[ResponseMessage]:
        """Type /profile with the sample attached; return the messages of the reply."""
        result = await self.member.slash(
            self.channel,
            "profile",
            submission=(self.sample.name, self.sample.read_bytes()),
            leaderboard=LEADERBOARD,
            gpu=self.gpu,
            benchmark=BENCHMARK,
        )
        first = [result.response] if result.response is not None else []
        return [*first, *result.followups]

    def page(self) -> Preview:
        """Return the browser page of the channel, to be entered."""
        return self.env.preview(self.channel, viewers=[self.member], layout="channel")


@asynccontextmanager
async def open_world(engine: str) -> AsyncIterator[World]:
    """Start runner, services, bot and Discord; their data lie in a folder that goes with them."""
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ncubot-demo-")))
        address = await stack.enter_async_context(
            embedded_runner(data / "runner", engine, data / "runner.log")
        )
        services = await open_services(BotSettings(data=data, runners=(address,), web_port=0))
        stack.push_async_callback(services.close)
        web = await stack.enter_async_context(serving(services))
        bot = NcuBot(services)
        env = await stack.enter_async_context(simcord.run(bot, settle_timeout=SETTLE_S[engine]))
        if bot.user is not None:
            await bot.user.edit(username="ncubot")
        guild = env.create_guild("GPU kernels")
        yield World(
            env=env,
            channel=guild.create_text_channel("profiling"),
            member=guild.add_member(env.create_user("alice")),
            gpu=address.gpu,
            sample=packaged_problems() / SAMPLE,
            web=web,
        )
