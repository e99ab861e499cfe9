"""Who counts as an admin, declared on the command.

Discord knows default permissions for whole commands only, so one subcommand of an open command is
guarded here, at run time.
"""

from typing import TypeVar

import discord
from discord import app_commands

from bot.answers import DiscordInteraction, NotAdmin
from cogs.service import ServiceCog

T = TypeVar("T")
ADMIN_ONLY = "admin_only"
"""Key in a command's `extras`; a test walks the tree by it."""


def admin_only(command: T) -> T:
    """Let only members with Manage Server or the configured role call a command."""
    if not isinstance(command, app_commands.Command):
        raise TypeError("put admin_only above the command decorator")
    command.extras[ADMIN_ONLY] = True
    command.add_check(_is_admin)
    return command


def is_admin(interaction: DiscordInteraction, role: int | None) -> bool:
    """Whether somebody has Manage Server or the `role` of the settings."""
    if interaction.guild is not None and interaction.permissions.manage_guild:
        return True
    return role in _roles(interaction)


def _is_admin(interaction: DiscordInteraction) -> bool:
    if is_admin(interaction, _admin_role(interaction)):
        return True
    raise NotAdmin


def _roles(interaction: DiscordInteraction) -> set[int]:
    member = interaction.user
    return {role.id for role in member.roles} if isinstance(member, discord.Member) else set()


def _admin_role(interaction: DiscordInteraction) -> int | None:
    binding = getattr(interaction.command, "binding", None)
    return binding.services.settings.admin_role if isinstance(binding, ServiceCog) else None
