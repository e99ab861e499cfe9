"""The list of past jobs and its buttons. They live in the message alone and so survive restarts."""

import re
from typing import Any, Self

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer, answer_error
from bot.jobs.errors import OptionForAdmins
from bot.jobs.history import Page
from bot.jobs.model import Whose
from bot.reports.past import list_text, page_words
from bot.services import Services
from cogs.embeds import WAITING
from cogs.gate import Gated
from cogs.permissions import is_admin
from cogs.sync_view import who_asks

COG = "Profiles"
NOT_YOURS = "Only the one who asked for this list may turn its pages: type /profiles list."


class PageButton(
    Gated,
    ui.DynamicItem[ui.Button[ui.View]],
    template=r"ncubot:past:(?P<viewer>[0-9]{1,20}):(?P<owner>[0-9]{1,20}):(?P<page>[0-9]{1,6})"
    r":(?P<label>Newer|Older)",
):
    """A button; its custom id says who looks at whose list, and which page it shows."""

    def __init__(
        self, viewer: int, owner: int, page: int, label: str, *, disabled: bool = False
    ) -> None:
        self.viewer, self.owner, self.page = viewer, owner, page
        super().__init__(
            ui.Button(
                label=label,
                style=discord.ButtonStyle.secondary,
                custom_id=f"ncubot:past:{viewer}:{owner}:{page}:{label}",
                disabled=disabled,
            )
        )

    @classmethod
    async def from_custom_id(
        cls, _: DiscordInteraction, __: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Rebuild the button of a message, whichever process sent it."""
        return cls(int(match["viewer"]), int(match["owner"]), int(match["page"]), match["label"])

    async def callback(self, interaction: DiscordInteraction, /) -> None:
        """Turn the page."""
        try:
            cog = interaction.client.get_cog(COG)  # type: ignore[attr-defined]
            await self._turn(interaction, cog.services)
        except Exception as error:  # noqa: BLE001 - discord.py would only log it, nobody answered
            await answer_error(interaction, error)

    async def _turn(self, interaction: DiscordInteraction, services: Services) -> None:
        if interaction.user.id != self.viewer:
            await answer(interaction, NOT_YOURS)
            return
        await interaction.response.defer()
        page = await self._page(interaction, services)
        await interaction.edit_original_response(
            embed=list_embed(page), view=list_view(page, self.viewer, self.owner)
        )

    async def _page(self, interaction: DiscordInteraction, services: Services) -> Page:
        if self.owner == self.viewer:
            return await services.history.page(Whose(self.owner), self.page)
        if not is_admin(interaction, services.settings.admin_role):
            raise OptionForAdmins("user")
        who, subject = who_asks(interaction), str(self.owner)
        async with services.audit.about(who, "profiles list", subject, {"page": self.page}):
            whose = Whose(self.owner, interaction.guild_id)
            return await services.history.page(whose, self.page)


def list_embed(page: Page) -> discord.Embed:
    """Build the embed of a page."""
    embed = discord.Embed(title="Profiles", description=list_text(page), colour=WAITING)
    return embed.set_footer(text=page_words(page))


def list_view(page: Page, viewer: int, owner: int) -> ui.View:
    """Return the buttons under a page. Nothing is kept in memory for them."""
    view = ui.View(timeout=None)
    before, after = page.number - 1, page.number + 1
    view.add_item(PageButton(viewer, owner, max(before, 0), "Newer", disabled=before < 0))
    view.add_item(PageButton(viewer, owner, after, "Older", disabled=after >= page.pages))
    view.stop()
    return view
