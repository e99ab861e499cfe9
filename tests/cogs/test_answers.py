"""However a command fails, its user gets exactly one answer, and nothing of ours in it."""

from collections.abc import Awaitable, Callable, Coroutine

import discord
import pytest
import simcord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, refusals_answered
from bot.client import NcuBot
from bot.jobs.errors import LeaderboardClosed
from bot.services import Services
from tests.cogs.conftest import World, messages

Fault = Callable[[DiscordInteraction], Awaitable[None]]
SECRET = "postgresql://user:hunter2@db"


async def early(_: DiscordInteraction) -> None:
    raise RuntimeError(SECRET)


async def late(interaction: DiscordInteraction) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    raise RuntimeError(SECRET)


async def refused_early(interaction: DiscordInteraction) -> None:
    async with refusals_answered(interaction):
        raise LeaderboardClosed("qr_v2")


async def refused_outside(_: DiscordInteraction) -> None:
    raise LeaderboardClosed("qr_v2")


async def forbidden(_: DiscordInteraction) -> None:
    raise app_commands.CheckFailure("secret reason")


CLOSED = "Leaderboard qr\\_v2 is closed: /leaderboard list shows the open ones."


@pytest.mark.parametrize(
    ("fault", "start"),
    [
        (early, "Something broke on our side, not yours. Tell an admin the number "),
        (late, "Something broke on our side, not yours. Tell an admin the number "),
        (refused_early, CLOSED),
        (refused_outside, CLOSED),
        (forbidden, "You may not use this command here."),
    ],
)
async def test_a_failed_command_has_one_private_answer(
    services: Services, fault: Fault, start: str, caplog: pytest.LogCaptureFixture
) -> None:
    bot = NcuBot(services)
    bot.tree.command(name="faulty", description="Fails.")(_command(fault))
    async with simcord.run(bot, check_errors=False) as env:
        channel = env.create_guild().create_text_channel("general")
        alice = env.guild.add_member(env.create_user("alice"))
        (message,) = messages(await alice.slash(channel, "faulty"))
    assert message.content.startswith(start)
    assert "secret" not in message.content
    assert SECRET not in message.content
    number = message.content.rsplit(" ", 1)[1].rstrip(".")
    assert ("number" in start) is (f"error {number} in /faulty" in caplog.text)


def _command(fault: Fault) -> Callable[[DiscordInteraction], Coroutine[None, None, None]]:
    async def faulty(interaction: discord.Interaction[discord.Client]) -> None:
        await fault(interaction)

    return faulty


async def test_a_cog_command_that_breaks_is_answered_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> bool:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(type(world.services.accounts), "register", broken)
    (message,) = messages(await world.alice.slash(world.channel, "register"))
    assert message.content.startswith("Something broke on our side")
    assert [type(error) for error in world.env.errors] == [app_commands.CommandInvokeError]


async def test_an_answer_that_discord_refuses_is_only_logged(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    bot = NcuBot(services)
    bot.tree.command(name="faulty", description="Fails.")(_command(early))
    async with simcord.run(bot, check_errors=False) as env:
        channel = env.create_guild().create_text_channel("general")
        alice = env.guild.add_member(env.create_user("alice"))
        env.inject_error("POST", "/interactions/*", status=404, code=10062)
        assert messages(await alice.slash(channel, "faulty")) == []
    assert "could not answer a failed command" in caplog.text


async def test_the_prefix_is_a_mention_so_that_no_message_needs_reading(services: Services) -> None:
    assert NcuBot(services).command_prefix is commands.when_mentioned
