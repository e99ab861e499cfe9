"""The door of every command, menu, form, button and picker: nobody banned comes through.

The rule is bot.storage.bans.Bans.let_in; here it is only put in front of Discord's entrances.
"""

from typing import TypeVar

from discord import app_commands

from bot.answers import DiscordInteraction, NotLetIn, answer, worded
from bot.jobs.errors import Banned
from bot.services import services_of

T = TypeVar("T")
FOR_BANNED = "for_banned"
"""Key in a command's `extras`: even somebody banned may delete what is theirs."""


def for_banned(command: T) -> T:
    """Let everybody call a command, whoever is banned."""
    if not isinstance(command, app_commands.Command):
        raise TypeError("put for_banned above the command decorator")
    command.extras[FOR_BANNED] = True
    return command


def check_let_in(interaction: DiscordInteraction) -> bool:
    """Be the check of a command. Raises NotLetIn."""
    command = interaction.command
    if command is not None and command.extras.get(FOR_BANNED):
        return True
    try:
        _let_in(interaction)
    except Banned as banned:
        raise NotLetIn(banned) from banned
    return True


class Gated:
    """Mixed into every view, form and item; put it before discord.py's class."""

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Answer somebody banned, and let everybody else in."""
        try:
            _let_in(interaction)
        except Banned as banned:
            await answer(interaction, worded(banned))
            return False
        return True


def _let_in(interaction: DiscordInteraction) -> None:
    services = services_of(interaction.client)
    if services is not None:
        services.bans.let_in(interaction.user.id)
