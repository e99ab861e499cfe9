"""The first answer to a command whose result may come on other ways than the interaction."""

import asyncio
import logging

from bot.answers import DiscordInteraction
from bot.delivery.ways import Unclear, WayClosed
from cogs.ways import discord_answers

log = logging.getLogger(__name__)
ANSWER_S = 3.0
"""Discord hears no first answer later than this."""
AGAIN_S = 0.3


async def defer(interaction: DiscordInteraction) -> None:
    """Say privately that something comes, and go on in any case.

    Discord may have heard it although its answer was lost, and refuses to hear it twice. Where it
    has not, the result goes to its author by the next way.
    """
    try:
        async with asyncio.timeout(ANSWER_S):
            while True:
                if await _deferred(interaction):
                    return
                await asyncio.sleep(AGAIN_S)
    except TimeoutError:
        log.warning("a command may have no first answer: Discord gives none")
    except WayClosed as closed:
        log.warning("a command may have no first answer: %s", closed.reason)


async def _deferred(interaction: DiscordInteraction) -> bool:
    try:
        with discord_answers():
            await interaction.response.defer(ephemeral=True, thinking=True)
    except Unclear as unclear:
        log.warning("the first answer to a command may be lost: %s", unclear.reason)
        return False
    return True
