"""One accepted job from its acknowledgement to its delivery."""

import asyncio
from functools import partial

import discord
from discord import ui

from bot.answers import DiscordInteraction, answer, refusals_answered, worded
from bot.jobs.errors import NcubotError
from bot.jobs.model import Job
from bot.reports.illustrate import illustrated, illustrations
from bot.reports.reply import compose
from bot.services import Services
from cogs.delivery import deliver, show_pictures, upload_limit
from cogs.embeds import progress_embed
from cogs.progress import Progress, first_words, progress_words
from runner_client.wire import JobEvent


class CancelView(ui.View):
    """The Cancel button of one job, for its author."""

    def __init__(self, services: Services, job: Job) -> None:
        super().__init__(timeout=None)
        self._services = services
        self._job = job

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Let the author in; the message is private, but a forwarded click is possible."""
        if interaction.user.id == self._job.user_id:
            return True
        await answer(interaction, "Only the author of a job may cancel it.")
        return False

    @ui.button(label="Cancel", style=discord.ButtonStyle.secondary)
    async def cancel(self, interaction: DiscordInteraction, button: ui.Button[ui.View]) -> None:
        """Ask the runner to end the job; what was captured so far is still delivered."""
        button.disabled, button.label = True, "Cancelling"
        await interaction.response.edit_message(view=self)
        async with refusals_answered(interaction):
            await self._services.jobs.cancel(self._job.id, interaction.user.id)


async def follow(interaction: DiscordInteraction, services: Services, job: Job) -> None:
    """Show progress until `job` has ended, then deliver its reply."""
    view = CancelView(services, job)
    accepted = first_words(job)
    progress = Progress(partial(_show, interaction, job, view))
    progress.show(accepted)

    async def on_event(event: JobEvent) -> None:
        words = progress_words(event, job)
        if words is not None:
            progress.show(f"{accepted}\n{words}")

    try:
        outcome = await services.jobs.run(job, on_event)
    except NcubotError as error:
        await progress.close()
        await _show(interaction, job, None, worded(error))
        return
    finally:
        view.stop()
        await progress.close()
    limit = upload_limit(interaction, services.settings.upload_limit)
    await deliver(interaction, await asyncio.to_thread(compose, outcome, limit))
    await services.jobs.delivered(job.id)
    drawn = await illustrated(services.pictures, outcome)
    await show_pictures(interaction, await asyncio.to_thread(illustrations, outcome, drawn, limit))


async def _show(
    interaction: DiscordInteraction, job: Job, view: CancelView | None, text: str
) -> None:
    embed = progress_embed(job, text)
    await interaction.edit_original_response(content=None, embed=embed, view=view)
