"""Composition root of `ncubot run`: runner, services and client, closed in the reverse order."""

import asyncio
import gc
import signal
from collections.abc import Coroutine
from contextlib import suppress

import aiohttp
import discord

from bot.client import NcuBot
from bot.jobs.errors import DiscordRefused
from bot.services import open_with_runner
from bot.settings import BotSettings
from bot.storage.errors import DatabaseTakenError
from bot.storage.sole import Sole
from bot.web.service import serving
from runner_client.secret import Secret

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_stopped(settings: BotSettings, token: Secret) -> None:
    """Serve Discord until SIGTERM or Ctrl-C. Raises NcubotError for what cannot start."""
    # What was imported stays: each full garbage collection would walk over it for another 0.1 s.
    gc.collect()
    gc.freeze()
    asyncio.run(_stoppable(settings, token))


async def _stoppable(settings: BotSettings, token: Secret) -> None:
    serving = asyncio.create_task(serve(settings, token))
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, serving.cancel)
    with suppress(asyncio.CancelledError):
        await serving


async def serve(settings: BotSettings, token: Secret) -> None:
    """Serve Discord and terminals until cancelled. Raises NcubotError for what cannot start."""
    services = await open_with_runner(settings)
    try:
        async with serving(services), NcuBot(services) as bot:
            await _unless_taken(services.sole, _listen(bot, token))
    except discord.LoginFailure:
        raise DiscordRefused("it does not accept the token") from None
    except (aiohttp.ClientConnectorError, discord.HTTPException) as error:
        raise DiscordRefused(str(error)) from error
    finally:
        await services.close()


async def _unless_taken(sole: Sole | None, serving: Coroutine[None, None, None]) -> None:
    """Serve, and end in good order where another bot takes the database."""
    if sole is None:
        await serving
        return
    tasks = [asyncio.create_task(serving), asyncio.create_task(sole.lost.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if sole.lost.is_set():
            raise DatabaseTakenError(sole.place)
        tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _listen(bot: NcuBot, token: Secret) -> None:
    """Hear Discord until cancelled, and then on while the bot ends what it is at."""
    hearing = asyncio.create_task(bot.start(token.reveal()))
    try:
        await asyncio.shield(hearing)
    except asyncio.CancelledError:
        await bot.close()
        raise
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
