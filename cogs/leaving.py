"""The buttons of /unregister."""

from typing import ClassVar

import discord
from discord import ui

from bot.accounts.model import Departure
from bot.answers import DiscordInteraction, refusals_answered
from bot.delivery.office import Office
from bot.services import Services
from cogs.account_texts import NOBODY, departure_text
from cogs.own_view import OwnView

STAYED = "Nothing was deleted; you are still registered."


class LeaveView(OwnView):
    """Delete everything, or keep it."""

    late: ClassVar[str | None] = STAYED

    def __init__(self, asked: DiscordInteraction, services: Services, office: Office) -> None:
        super().__init__(asked)
        self._services = services
        self._office = office

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Let only the one who asked press; somebody banned may leave as well."""
        return await self.is_own(interaction)

    @ui.button(label="Delete my account", style=discord.ButtonStyle.danger)
    async def leave(self, interaction: DiscordInteraction, _: "ui.Button[LeaveView]") -> None:
        """Close the account and delete what was sent and got."""
        self.stop()
        await interaction.response.edit_message(content="Deleting …", view=None)
        async with refusals_answered(interaction):
            gone = await self._services.members.leave(interaction.user.id, self._office.let_go)
            await interaction.edit_original_response(content=_said(gone))

    @ui.button(label="Keep it", style=discord.ButtonStyle.secondary)
    async def stay(self, interaction: DiscordInteraction, _: "ui.Button[LeaveView]") -> None:
        """Change nothing."""
        self.stop()
        await interaction.response.edit_message(content=STAYED, view=None)


def _said(gone: Departure | None) -> str:
    return NOBODY if gone is None else departure_text(gone)
