"""The button that a newcomer's first profile gets in place of an error, and the file it waits for.

The button lives in the message alone; the file in memory, for a few minutes. After that, or after
a restart, the button still registers.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer_error, refusals_answered
from bot.jobs.model import ProfileRequest
from bot.reports.neutral import code
from bot.storage.accounts import Accounts
from cogs.gate import Gated

DESK = "_ncubot_registration"
"""Attribute of a host bot."""
HOLD_S = 300.0
MOST_HELD = 64
"""Files of newcomers in memory at one time, which bounds it to as many MB."""
LABEL = "Register and profile"
DONE = "You are registered."
TOO_LATE = f"{DONE} Your file was not kept for so long: type /profile again."
GoOn = Callable[[DiscordInteraction, ProfileRequest], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Held:
    request: ProfileRequest
    end: asyncio.TimerHandle


class Registration:
    """What newcomers have asked for who have no account yet; `go_on` profiles it."""

    def __init__(self, accounts: Accounts, go_on: GoOn) -> None:
        self.accounts = accounts
        self.go_on = go_on
        self._held: dict[str, _Held] = {}

    def hold(self, request: ProfileRequest) -> str:
        """Keep a request in memory and return its key. One of the same user makes room for it."""
        for key, held in list(self._held.items()):
            if held.request.user_id == request.user_id:
                self.take(key)
        while len(self._held) >= MOST_HELD:
            self.take(next(iter(self._held)))
        key = secrets.token_hex(8)
        end = asyncio.get_running_loop().call_later(HOLD_S, self.take, key)
        self._held[key] = _Held(request, end)
        return key

    def take(self, key: str) -> ProfileRequest | None:
        """Return a request and forget it; None where it is no longer kept."""
        held = self._held.pop(key, None)
        if held is None:
            return None
        held.end.cancel()
        return held.request

    def close(self) -> None:
        """Forget everything."""
        for key in list(self._held):
            self.take(key)


class RegisterButton(
    Gated,
    ui.DynamicItem[ui.Button[ui.View]],
    template=r"ncubot:register:(?P<key>[0-9a-f]{16})",
):
    """The button; its custom id says which request waits for it."""

    def __init__(self, key: str) -> None:
        self.key = key
        button: ui.Button[ui.View] = ui.Button(
            label=LABEL,
            style=discord.ButtonStyle.primary,
            custom_id=f"ncubot:register:{key}",
        )
        super().__init__(button)

    @classmethod
    async def from_custom_id(
        cls, _: DiscordInteraction, __: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Rebuild the button of a message, whichever process sent it."""
        return cls(match["key"])

    async def callback(self, interaction: DiscordInteraction, /) -> None:
        """Make the account, then profile the file."""
        try:
            async with refusals_answered(interaction):
                await self._register(interaction)
        except Exception as error:  # noqa: BLE001 - discord.py would only log it, nobody answered
            await answer_error(interaction, error)

    async def _register(self, interaction: DiscordInteraction) -> None:
        await interaction.response.defer()
        desk, user = registration_of(interaction.client), interaction.user
        if desk is None:
            return
        await desk.accounts.register(user.id, user.name)
        request = desk.take(self.key)
        if request is None or request.user_id != user.id:
            await interaction.edit_original_response(content=TOO_LATE, view=None)
            return
        await interaction.edit_original_response(content=DONE, view=None)
        await desk.go_on(interaction, request)


def registration_of(client: object) -> Registration | None:
    """Return where newcomers of a host bot register, None where no cog for that is loaded."""
    desk = getattr(client, DESK, None)
    return desk if isinstance(desk, Registration) else None


async def offer(interaction: DiscordInteraction, request: ProfileRequest) -> bool:
    """Offer an account to somebody without one; tell whether that is possible here."""
    desk = registration_of(interaction.client)
    if desk is None:
        return False
    view = ui.View(timeout=None)
    view.add_item(RegisterButton(desk.hold(request)))
    view.stop()
    await interaction.edit_original_response(content=offer_text(request), view=view)
    return True


def offer_text(request: ProfileRequest) -> str:
    """Say what an account is, and what the button does."""
    return (
        "You have no account here yet. It is your Discord id and name with the profiles that you "
        f"make; /unregister deletes it. Press the button, and {code(request.file_name, 100)} is "
        "profiled right away."
    )
