"""From an interaction to the address of its author, and whether the bot may reply there."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import discord

from bot.answers import DiscordInteraction
from bot.delivery.address import TOKEN_LIFE, Address
from bot.jobs.errors import PermissionsMissing
from cogs.ways import MARGIN
from runner_client.secret import Secret

NEEDED = ("attach_files", "embed_links")
"""Without these a reply could not be shown on any way that leads through the server."""
FALLBACK = ("create_private_threads", "send_messages_in_threads", "read_message_history")
"""For authors whose interaction is too old and who take no direct messages."""
_told: set[tuple[int | None, tuple[str, ...]]] = set()
Announce = Callable[[str], Awaitable[bool]]


def address_of(interaction: DiscordInteraction, configured: int | None) -> Address:
    """Return where the author of an interaction that has just come is to be reached."""
    return Address(
        user_id=interaction.user.id,
        application_id=interaction.application_id,
        token=Secret(interaction.token),
        expires_at=datetime.now(UTC) + TOKEN_LIFE,
        channel_id=interaction.channel_id,
        guild_id=interaction.guild_id,
        upload_limit=upload_limit(interaction, configured),
    )


def upload_limit(interaction: DiscordInteraction, configured: int | None) -> int:
    """Return the bytes that one file may have: the smallest limit known, less 1 %."""
    limits = [interaction.filesize_limit]
    if interaction.guild is not None:
        limits.append(interaction.guild.filesize_limit)
    if configured is not None:
        limits.append(configured)
    return int(min(limits) * MARGIN)


async def check_permissions(interaction: DiscordInteraction, announce: Announce) -> None:
    """Raise PermissionsMissing where replies cannot be sent.

    Admins are told of these, and of what only the other ways need, once a channel.
    """
    if interaction.guild_id is None:
        return
    needed = _missing(interaction.app_permissions, NEEDED)
    every = (*needed, *_missing(interaction.app_permissions, FALLBACK))
    place = (interaction.channel_id, every)
    if every and place not in _told:
        name = getattr(interaction.channel, "name", None) or "?"
        text = f"In channel {name} ({interaction.channel_id}) the bot lacks {', '.join(every)}."
        if await announce(text):
            _told.add(place)
    if needed:
        raise PermissionsMissing(needed)


def _missing(allowed: discord.Permissions, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that are not allowed, as Discord's settings call them."""
    given = dict(allowed)
    return tuple(name.replace("_", " ").title() for name in names if not given[name])
