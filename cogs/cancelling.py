"""The Cancel button of a job. It lives in the message alone and so survives restarts."""

import re
from typing import Any, Self

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer, answer_error, refusals_answered
from bot.delivery.office import Office
from cogs.gate import Gated

OFFICE = "_ncubot_office"
"""Attribute of a host bot."""
NOT_YOURS = "Only the author of a job may cancel it."


class CancelButton(
    Gated, ui.DynamicItem[ui.Button[ui.View]], template=r"ncubot:cancel:(?P<job>[0-9a-f]{32})"
):
    """The button; its custom id says which job it ends."""

    def __init__(self, job_id: str, *, pressed: bool = False) -> None:
        self.job_id = job_id
        super().__init__(
            ui.Button(
                label="Cancelling" if pressed else "Cancel",
                style=discord.ButtonStyle.secondary,
                custom_id=f"ncubot:cancel:{job_id}",
                disabled=pressed,
            )
        )

    @classmethod
    async def from_custom_id(
        cls, _: DiscordInteraction, __: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Rebuild the button of a message, whichever process sent it."""
        return cls(match["job"])

    async def callback(self, interaction: DiscordInteraction, /) -> None:
        """Ask for the job's end; what was captured so far is still delivered."""
        try:
            await self._cancel(interaction, office_of(interaction.client))
        except Exception as error:  # noqa: BLE001 - discord.py would only log it, nobody answered
            await answer_error(interaction, error)

    async def _cancel(self, interaction: DiscordInteraction, office: Office) -> None:
        if not await office.belongs(self.job_id, interaction.user.id):
            await answer(interaction, NOT_YOURS)
            return
        await interaction.response.edit_message(view=cancel_view(self.job_id, pressed=True))
        async with refusals_answered(interaction):
            await office.cancel(self.job_id, interaction.user.id)


def cancel_view(job_id: str, *, pressed: bool) -> ui.View:
    """Return the button for a message. Nothing is kept in memory for it."""
    view = ui.View(timeout=None)
    view.add_item(CancelButton(job_id, pressed=pressed))
    view.stop()
    return view


def office_of(client: object) -> Office:
    """Return the office of a host bot, which its first cog with jobs has opened."""
    office = getattr(client, OFFICE, None)
    if not isinstance(office, Office):
        raise TypeError("no cog with jobs is loaded")
    return office
