"""Restarts of the bot in the middle of a job, as its author sees them."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discord
import simcord
from discord.ext import commands
from simcord.results import ResponseMessage

from bot.client import ENDING, EXTENSIONS, NcuBot
from bot.delivery.address import Address
from bot.delivery.steps import Step
from bot.jobs.model import ProfileRequest
from bot.services import open_services
from bot.settings import load_settings
from cogs.cancelling import office_of
from runner_client.secret import Secret
from tests.cogs.conftest import World
from tests.cogs.test_delivery import shown, started
from tests.cogs.test_tree import environment
from tests.delivery.killing import step_reached
from tests.standin.problem import replaying

__all__ = ["environment"]


async def restarted(world: World) -> None:
    """Let a fresh process take over, which knows of nothing but rows and custom ids."""
    bot = world.env.bot
    assert isinstance(bot, NcuBot)
    for extension in EXTENSIONS:
        await bot.unload_extension(extension)
    assert not hasattr(bot, "_ncubot_office")
    for extension in EXTENSIONS:
        await bot.load_extension(extension)


async def running(world: World, source: str) -> ResponseMessage:
    """Type /profile and go on when it runs; return the message with the progress."""
    with step_reached(Step.AFTER_RUNNING) as event:
        progress = await started(world, source)
        await event.wait()
    return progress


async def over(bot: discord.Client) -> None:
    """Wait until every courier has ended."""
    await asyncio.gather(*office_of(bot)._tasks.values())


async def test_the_result_comes_in_place_of_the_progress_of_before(world: World) -> None:
    progress = await running(world, replaying("ok-geqrf-four-kernels", lag_s=0.08))
    await restarted(world)
    await over(world.env.bot)
    (final,) = shown(world)
    assert final.id == progress.id
    assert final.ephemeral
    assert final.embeds[0].title == "qr_v2 · benchmark 0"
    assert final.attachments


async def test_cancel_works_after_a_restart(world: World) -> None:
    progress = await running(world, replaying("ok-triton-1024", lag_s=30))
    await restarted(world)
    await world.alice.click(progress, label="Cancel")
    await over(world.env.bot)
    (final,) = shown(world)
    assert final.embeds[0].title == "qr_v2 · benchmark 0: cancelled"
    assert final.components == []


async def test_a_bot_that_is_about_to_end_takes_no_command(world: World) -> None:
    assert isinstance(world.env.bot, NcuBot)
    world.env.bot.is_ending = True
    assert await world.refused() == ENDING
    world.env.bot.is_ending = False


async def test_a_host_bot_with_this_cog_alone_takes_up_what_was_left(environment: Path) -> None:
    host = commands.Bot("!", intents=discord.Intents(guilds=True))
    async with simcord.run(host, settle_timeout=20) as env:
        channel = env.create_guild().create_text_channel("general")
        alice = env.guild.add_member(env.create_user("alice"))
        await left_behind(alice.id, channel.id, env.guild.id)
        await host.load_extension("cogs.profile")
        await over(host)
        direct, *_ = [
            ResponseMessage(env, message)
            for stored in env.backend.messages.values()
            for message in stored.values()
        ]
        assert direct.embeds[0].title == "qr_v2 · benchmark 0"
        await host.unload_extension("cogs.profile")


async def left_behind(user_id: int, channel_id: int, guild_id: int) -> None:
    """Leave a job that is a row and nothing more, of an interaction of long ago."""
    services = await open_services(load_settings())
    await services.accounts.register(user_id, "alice")
    request = ProfileRequest(
        user_id=user_id,
        file_name="submission.py",
        source=replaying("ok-geqrf-four-kernels").encode(),
        leaderboard="qr_v2",
        gpu="H200",
        benchmark=0,
        channel_id=channel_id,
        guild_id=guild_id,
    )
    address = Address(
        user_id=user_id,
        application_id=1,
        token=Secret("an-old-token"),
        expires_at=datetime.now(UTC) - timedelta(hours=1),
        channel_id=channel_id,
        guild_id=guild_id,
        upload_limit=10_000_000,
    )
    await services.jobs.submit(request, address)
    await services.close()
