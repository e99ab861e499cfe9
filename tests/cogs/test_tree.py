"""The whole command tree, and cogs in somebody else's bot."""

from pathlib import Path

import discord
import pytest
import simcord
from discord import app_commands
from discord.ext import commands

from bot.client import EXTENSIONS, NcuBot, sync_when_changed
from bot.services import Services
from cogs.permissions import ADMIN_ONLY
from runner_client.address import RunnerAddress
from tests.cogs.conftest import SETTLE_S, World, messages

ADMINS = {
    "user ban",
    "user unban",
    "user show",
    "user quota",
    "runners list",
    "runners drain",
    "runners resume",
    "leaderboard sync",
    "leaderboard close",
    "leaderboard open",
    "leaderboard override",
}
EXPECTED = {
    "register",
    "whoami",
    "unregister",
    "user",
    "profile",
    "profiles",
    "profiles list",
    "profiles show",
    "profiles files",
    "profiles compare",
    "profiles cancel",
    "profiles delete",
    "runners",
    "leaderboard",
    "leaderboard list",
    "leaderboard show",
    "leaderboard template",
    "leaderboard history",
    *ADMINS,
}


async def test_every_command_and_option_is_described(world: World) -> None:
    walked = list(world.env.bot.tree.walk_commands())  # type: ignore[attr-defined]
    assert {command.qualified_name for command in walked} == EXPECTED
    for command in walked:
        assert len(command.description) > 10, command.qualified_name
        for option in getattr(command, "parameters", []):
            assert len(option.description) > 10, option.name


async def test_admin_commands_declare_it_and_check_it(world: World) -> None:
    walked = world.env.bot.tree.walk_commands()  # type: ignore[attr-defined]
    leaves = [command for command in walked if isinstance(command, app_commands.Command)]
    admin = {command.qualified_name for command in leaves if command.extras.get(ADMIN_ONLY)}
    assert admin == ADMINS
    assert {command.qualified_name for command in leaves if command.checks} == admin
    said = {command.qualified_name for command in leaves if command.description[:7] == "Admins:"}
    assert said == admin


def test_the_bot_asks_for_no_privileged_intent_and_mentions_nobody(bot: NcuBot) -> None:
    privileged = discord.Intents(members=True, presences=True, message_content=True)
    assert not bot.intents.value & privileged.value
    assert bot.allowed_mentions is not None
    assert bot.allowed_mentions.to_dict() == discord.AllowedMentions.none().to_dict()


@pytest.fixture
async def bot(services: Services) -> NcuBot:
    """Return a bot that is not connected."""
    return NcuBot(services)


async def test_the_tree_is_synced_only_when_it_changed(world: World, tmp_path: Path) -> None:
    ours = world.env.bot
    assert isinstance(ours, NcuBot)
    seen = tmp_path / "seen"

    def synced() -> int:
        return sum(request.method == "PUT" for request in world.env.http_requests)

    assert synced() == 1
    assert await sync_when_changed(ours, seen)
    assert not await sync_when_changed(ours, seen)
    assert synced() == 2
    ours.tree.remove_command("register")
    assert await sync_when_changed(ours, seen)
    assert synced() == 3


@pytest.fixture
def environment(runner: RunnerAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configure what a host bot's cogs read when no services were handed to them."""
    assert runner.token is not None
    entry = {"name": "a", "url": runner.url, "gpu": "H200", "token": runner.token.reveal()}
    monkeypatch.chdir(tmp_path)
    # SimCord waits for the connections of looks at the runner, as long as these are kept.
    monkeypatch.setenv("NCUBOT_RUNNER_POLL", "3600")
    monkeypatch.setenv("NCUBOT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NCUBOT_RUNNERS", str([entry]).replace("'", '"'))
    return tmp_path / "data"


@pytest.mark.parametrize("extension", EXTENSIONS)
async def test_each_cog_loads_into_any_bot(extension: str, environment: Path) -> None:
    host = commands.Bot("!", intents=discord.Intents.none())
    await host.load_extension(extension)
    assert host.cogs
    await host.unload_extension(extension)
    assert host.tree.get_commands(type=None) == []
    assert not host._connection._view_store._dynamic_items


async def test_a_plain_host_bot_serves_register(environment: Path) -> None:
    class Host(commands.Bot):
        async def setup_hook(self) -> None:
            for extension in EXTENSIONS:
                await self.load_extension(extension)
            await self.tree.sync()

    host = Host("!", intents=discord.Intents(guilds=True))
    async with simcord.run(host, settle_timeout=SETTLE_S) as env:
        channel = env.create_guild().create_text_channel("general")
        alice = env.guild.add_member(env.create_user("alice"))
        (message,) = messages(await alice.slash(channel, "register"))
        assert message.content.startswith("You are registered.")
        shown = await alice.autocomplete(channel, "profile", "leaderboard", "qr")
        assert [choice["value"] for choice in shown] == ["qr_v2"]
        for extension in EXTENSIONS:
            await host.unload_extension(extension)
    assert (environment / "ncubot.db").is_file()
