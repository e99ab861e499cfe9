"""Sends a reply: the first message in place of the progress, each other one as a follow-up."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import discord

from bot.answers import DiscordInteraction
from bot.reports.illustrate import Illustration
from bot.reports.message import ReplyMessage
from bot.reports.parts import MOST_FILES
from bot.reports.pictures.values import Kind
from bot.reports.uploads import largest
from cogs.embeds import illustration_embeds, open_files, reply_embed
from cogs.picking import picker_view

log = logging.getLogger(__name__)
TOO_LARGE_STATUS = 413
TOO_LARGE_CODE = 40005
MARGIN = 0.99
REFUSED = "Discord refused the upload as too large"
BENCHMARKS_A_MESSAGE = MOST_FILES // len(Kind)
Send = Callable[[ReplyMessage, list[discord.File]], Awaitable[object]]


def upload_limit(interaction: DiscordInteraction, configured: int | None) -> int:
    """Return the bytes that one file may have: the smallest limit known, less 1 %."""
    limits = [interaction.filesize_limit]
    if interaction.guild is not None:
        limits.append(interaction.guild.filesize_limit)
    if configured is not None:
        limits.append(configured)
    return int(min(limits) * MARGIN)


async def deliver(interaction: DiscordInteraction, messages: tuple[ReplyMessage, ...]) -> None:
    """Send all messages, privately. Raises discord.HTTPException where Discord takes none."""

    async def in_place(message: ReplyMessage, files: list[discord.File]) -> None:
        await interaction.edit_original_response(
            content=message.table or None,
            embed=reply_embed(message),
            attachments=files,
            view=picker_view(message.picker) if message.picker else None,
        )

    async def follow_up(message: ReplyMessage, files: list[discord.File]) -> None:
        await interaction.followup.send(
            message.table,
            embed=reply_embed(message),
            files=files,
            view=picker_view(message.picker) if message.picker else discord.utils.MISSING,
            ephemeral=True,
        )

    await _send(messages[0], in_place)
    for message in messages[1:]:
        await _send(message, follow_up)


async def show_pictures(interaction: DiscordInteraction, shown: tuple[Illustration, ...]) -> None:
    """Send pictures, privately. The reply is there without them, so a refusal is only logged."""
    for start in range(0, len(shown), BENCHMARKS_A_MESSAGE):
        together = shown[start : start + BENCHMARKS_A_MESSAGE]
        uploads = tuple(file for one in together for file in one.files)
        files = await asyncio.to_thread(open_files, uploads)
        embeds = [embed for one in together for embed in illustration_embeds(one)]
        try:
            await interaction.followup.send(embeds=embeds, files=files, ephemeral=True)
        except discord.HTTPException as error:
            log.warning("pictures could not be sent: %s", error)
        finally:
            for file in files:
                file.close()


async def _send(message: ReplyMessage, send: Send) -> None:
    """Send with all files, then without the largest, then the text alone."""
    if await _attempt(message, send):
        return
    heaviest = largest(message.files)
    lighter = message if heaviest is None else message.without(heaviest, REFUSED)
    if await _attempt(lighter, send):
        return
    for file in lighter.files:
        lighter = lighter.without(file, REFUSED)
    await send(lighter, [])


async def _attempt(message: ReplyMessage, send: Send) -> bool:
    files = await asyncio.to_thread(open_files, message.files)
    try:
        await send(message, files)
    except discord.HTTPException as error:
        if error.status != TOO_LARGE_STATUS and error.code != TOO_LARGE_CODE:
            raise
        log.warning("upload refused as too large: %s", [file.name for file in message.files])
        return False
    finally:
        for file in files:
            file.close()
    return True
