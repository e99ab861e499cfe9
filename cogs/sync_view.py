"""The buttons under the preview of a sync. Only the admin who asked may press them."""

from typing import ClassVar

import discord
from discord import ui

from bot.answers import DiscordInteraction, refusals_answered
from bot.leaderboards.reading import Reading
from bot.leaderboards.sync import SyncReport
from bot.services import Services
from bot.storage.audit import Who
from cogs.board_texts import force_text, preview_text
from cogs.embeds import WAITING
from cogs.own_view import OwnView

NOT_YOURS = "Only the admin who asked for this sync may press its buttons."


def who_asks(interaction: DiscordInteraction) -> Who:
    """Return the admin as the audit table names them."""
    user = interaction.user
    return Who(origin="discord", id=user.id, name=user.name, guild_id=interaction.guild_id)


def report_embed(title: str, text: str) -> discord.Embed:
    """Build the embed of a preview or of what was done."""
    return discord.Embed(title=title, description=text, colour=WAITING)


class _SyncButtons(OwnView):
    """Acts for the admin who asked."""

    not_yours: ClassVar[str] = NOT_YOURS

    async def act(
        self, interaction: DiscordInteraction, services: Services, reading: Reading, *, force: bool
    ) -> None:
        """Apply a reading and put what was done in the preview's place.

        The buttons stay where it was refused, so that it can be tried again.
        """
        await interaction.response.defer()
        async with refusals_answered(interaction):
            report = await services.leaderboards.apply(reading, who_asks(interaction), force=force)
            self.stop()
            embed = report_embed("Leaderboards synced", preview_text(report))
            await interaction.edit_original_response(embed=embed, view=None)

    async def give_up(self, interaction: DiscordInteraction) -> None:
        """Change nothing."""
        self.stop()
        await interaction.response.edit_message(
            content="Nothing was changed.", embed=None, view=None
        )


class SyncView(_SyncButtons):
    """Apply, apply with what was held back, or cancel."""

    def __init__(
        self, asked: DiscordInteraction, services: Services, reading: Reading, plan: SyncReport
    ) -> None:
        super().__init__(asked)
        self.services = services
        self.reading = reading
        self.plan = plan
        if not plan.acts:
            self.remove_item(self.apply)
        if not plan.held:
            self.remove_item(self.ask_again)

    @ui.button(label="Apply", style=discord.ButtonStyle.primary)
    async def apply(self, interaction: DiscordInteraction, _: "ui.Button[SyncView]") -> None:
        """Do what the preview says."""
        await self.act(interaction, self.services, self.reading, force=False)

    @ui.button(label="Apply with what needs confirmation", style=discord.ButtonStyle.danger)
    async def ask_again(self, interaction: DiscordInteraction, _: "ui.Button[SyncView]") -> None:
        """Ask a second time before results change their meaning."""
        self.stop()
        embed = report_embed("Really?", force_text(self.plan))
        view = ForceView(interaction, self.services, self.reading)
        await interaction.response.edit_message(embed=embed, view=view)

    @ui.button(label="Cancel", style=discord.ButtonStyle.secondary)
    async def cancel(self, interaction: DiscordInteraction, _: "ui.Button[SyncView]") -> None:
        """Change nothing."""
        await self.give_up(interaction)


class ForceView(_SyncButtons):
    """The second confirmation."""

    def __init__(self, asked: DiscordInteraction, services: Services, reading: Reading) -> None:
        super().__init__(asked)
        self.services = services
        self.reading = reading

    @ui.button(label="Yes, change them", style=discord.ButtonStyle.danger)
    async def force(self, interaction: DiscordInteraction, _: "ui.Button[ForceView]") -> None:
        """Do everything."""
        await self.act(interaction, self.services, self.reading, force=True)

    @ui.button(label="Cancel", style=discord.ButtonStyle.secondary)
    async def cancel(self, interaction: DiscordInteraction, _: "ui.Button[ForceView]") -> None:
        """Change nothing."""
        await self.give_up(interaction)
