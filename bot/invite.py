"""The address by which an admin adds the bot to a server, with the permissions it needs."""

import base64
import binascii
from urllib.parse import urlencode

from bot.settings import BotSettings
from runner_client.secret import Secret

AUTHORIZE = "https://discord.com/oauth2/authorize"
PERMISSIONS = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Embed Links": 1 << 14,
    "Attach Files": 1 << 15,
    "Read Message History": 1 << 16,
    "Create Private Threads": 1 << 36,
    "Send Messages in Threads": 1 << 38,
}
"""Bits as Discord's API numbers them. No privileged intent is needed beside them."""


def invite_address(application_id: int) -> str:
    """Return the address for the bot of that id."""
    query = {
        "client_id": application_id,
        "permissions": sum(PERMISSIONS.values()),
        "scope": "bot applications.commands",
    }
    return f"{AUTHORIZE}?{urlencode(query)}"


def application_id(settings: BotSettings) -> int | None:
    """Return the bot's id from the settings, or as its token tells it; None where neither does."""
    if settings.application_id is not None:
        return settings.application_id
    return _id_in(settings.discord_token) if settings.discord_token is not None else None


def _id_in(token: Secret) -> int | None:
    first = token.reveal().partition(".")[0]
    try:
        text = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return int(text) if text.isdecimal() and 15 <= len(text) <= 20 else None
