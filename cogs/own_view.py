"""Buttons for one person, under a private message."""

from typing import ClassVar

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer, answer_error
from cogs.gate import Gated

TIMEOUT_S = 600.0
"""Below the 15 minutes for which Discord lets a reply be edited."""


class OwnView(Gated, ui.View):
    """Serves the one who asked, and takes its buttons away when nobody presses them.

    Then the text stays, or `late` comes in its place. `not_yours` is for anybody else who presses.
    """

    not_yours: ClassVar[str] = "Only the one who asked may press these buttons."
    late: ClassVar[str | None] = None

    def __init__(self, asked: DiscordInteraction) -> None:
        super().__init__(timeout=TIMEOUT_S)
        self.asked = asked

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Let only the one who asked press, unless banned since."""
        return await self.is_own(interaction) and await super().interaction_check(interaction)

    async def is_own(self, interaction: DiscordInteraction) -> bool:
        """Whether it is the one who asked; anybody else is told that it is not."""
        if interaction.user.id == self.asked.user.id:
            return True
        await answer(interaction, self.not_yours)
        return False

    async def on_timeout(self) -> None:
        """Take the buttons away."""
        content = discord.utils.MISSING if self.late is None else self.late
        try:
            await self.asked.edit_original_response(content=content, view=None)
        except discord.HTTPException:
            # The message was dismissed, which a private one can be.
            return

    async def on_error(
        self, interaction: DiscordInteraction, error: Exception, /, *_: object
    ) -> None:
        """Answer what went wrong."""
        await answer_error(interaction, error)
