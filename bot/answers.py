"""The one place that answers a user, and that words what went wrong, in Discord."""

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil

import discord
from discord import app_commands

from bot.jobs.errors import NcubotError, QuotaUsed
from bot.phrases import at
from bot.reports.neutral import inline
from bot.wording import sentence

log = logging.getLogger(__name__)
SENTENCE_LIMIT = 1_500
ANSWERED_BEFORE = 40060
"""Discord's code where it has heard a response whose confirmation was lost."""
DiscordInteraction = discord.Interaction[discord.Client]


class NotAdmin(app_commands.CheckFailure):
    """Somebody without the admin permission called an admin's command."""


class NotLetIn(app_commands.CheckFailure):
    """Somebody may not use the bot; `refusal` says why."""

    def __init__(self, refusal: NcubotError) -> None:
        super().__init__(refusal)
        self.refusal = refusal


async def answer(interaction: DiscordInteraction, text: str) -> None:
    """Send a private text: as the response while that is open, else as a follow-up."""
    if not interaction.response.is_done():
        try:
            await interaction.response.send_message(text, ephemeral=True)
        except discord.HTTPException as error:
            if error.code != ANSWERED_BEFORE:
                raise
        else:
            return
    await interaction.followup.send(text, ephemeral=True)


def worded(error: NcubotError) -> str:
    """Return the sentence of an expected error, harmless in Discord.

    A moment to come is shown as every reader's own Discord words it: `in 3 hours`.
    """
    text = inline(sentence(error), SENTENCE_LIMIT)
    if isinstance(error, QuotaUsed) and error.until is not None:
        return text.replace(at(error.until), f"<t:{ceil(error.until.timestamp())}:R>")
    return text


@asynccontextmanager
async def refusals_answered(interaction: DiscordInteraction) -> AsyncIterator[None]:
    """Turn an expected error into its sentence."""
    try:
        yield
    except NcubotError as error:
        log.info("refused: %s", type(error).__name__)
        await answer(interaction, worded(error))


async def answer_error(interaction: DiscordInteraction, error: Exception) -> None:
    """Answer anything that left a command; an unexpected error gets a number to quote."""
    text = _error_text(interaction, error)
    try:
        await answer(interaction, text)
    except discord.HTTPException as failed:
        log.warning("could not answer a failed command: %s", failed)


def _error_text(interaction: DiscordInteraction, error: Exception) -> str:
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if isinstance(cause, NcubotError):
        return worded(cause)
    if isinstance(cause, NotLetIn):
        return worded(cause.refusal)
    if isinstance(cause, NotAdmin):
        return (
            "This command is for admins: it needs the Manage Server permission or the admin role."
        )
    if isinstance(cause, app_commands.CheckFailure):
        return "You may not use this command here."
    if isinstance(cause, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
        return "This command has changed; restart Discord to see its new form."
    number = secrets.token_hex(4)
    name = interaction.command.qualified_name if interaction.command else "?"
    log.error("error %s in /%s", number, name, exc_info=cause)
    return f"Something broke on our side, not yours. Tell an admin the number {number}."
