"""The kernel picker under a reply. It lives in the message alone and so survives restarts."""

import asyncio
import re
from dataclasses import replace
from typing import Any, Self

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer, answer_error, worded
from bot.jobs.errors import NcubotError, ResultGone
from bot.reports.picker import Picker, view_of
from bot.services import Services
from cogs.gate import Gated

COG = "Kernels"
GONE = "The counters of this profile are no longer kept"
NOT_THERE = "That kernel is not in the report: choose another one."


class KernelSelect(
    Gated,
    ui.DynamicItem[ui.Select[ui.View]],
    template=r"ncubot:kernels:(?P<job>[0-9a-f]{32}):(?P<benchmark>[0-9]{1,4}):(?P<page>[0-9]{1,3})",
):
    """The menu; its custom id says which benchmark of which job it is about."""

    def __init__(self, picker: Picker) -> None:
        self.picker = picker
        options = [
            discord.SelectOption(
                label=choice.label,
                value=choice.value,
                description=choice.description or None,
                default=choice.chosen,
            )
            for choice in picker.choices
        ]
        # Discord wants an option even in a menu that is off.
        off = [discord.SelectOption(label=picker.placeholder, value="off")]
        super().__init__(
            ui.Select(
                custom_id=f"ncubot:kernels:{picker.job_id}:{picker.benchmark}:{picker.page}",
                placeholder=picker.placeholder,
                options=options or off,
                disabled=not options,
            )
        )

    @classmethod
    async def from_custom_id(
        cls, _: DiscordInteraction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Rebuild the menu of a message, whichever process sent it."""
        picker = Picker(
            job_id=match["job"], benchmark=int(match["benchmark"]), page=int(match["page"])
        )
        select = cls(picker)
        if isinstance(item, ui.Select):
            select.item = item
        return select

    async def callback(self, interaction: DiscordInteraction, /) -> None:
        """Show the kernel, in place of the table."""
        try:
            cog = interaction.client.get_cog(COG)  # type: ignore[attr-defined]
            await self._show(interaction, cog.services)
        except Exception as error:  # noqa: BLE001 - discord.py would only log it, nobody answered
            await answer_error(interaction, error)

    async def _show(self, interaction: DiscordInteraction, services: Services) -> None:
        await interaction.response.defer()
        picker, value = self.picker, self.item.values[0]
        try:
            outcome = await services.jobs.load(picker.job_id, interaction.user.id, picker.benchmark)
        except ResultGone:
            off = replace(picker, choices=(), placeholder=GONE)
            await interaction.edit_original_response(view=picker_view(off))
            await answer(interaction, f"{GONE}; its table and files here stay. Profile again.")
            return
        except NcubotError as error:
            await answer(interaction, worded(error))
            return
        shown = await asyncio.to_thread(
            view_of, picker.job_id, outcome.benchmarks[0], picker.page, value
        )
        if shown is None:
            await answer(interaction, NOT_THERE)
            return
        await interaction.edit_original_response(
            content=shown.content, view=picker_view(shown.picker)
        )


def picker_view(picker: Picker) -> ui.View:
    """Return the menu for a message. Nothing is kept in memory for it."""
    view = ui.View(timeout=None)
    view.add_item(KernelSelect(picker))
    view.stop()
    return view
