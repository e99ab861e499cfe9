"""What the cogs with jobs share: the office of their host bot, and notes about kept results."""

import logging

from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer
from bot.delivery.courier import Tools
from bot.delivery.office import Office
from bot.delivery.turns import Turns
from bot.delivery.ways import Unclear, WayClosed
from bot.reports.neutral import code, inline
from bot.services import Services
from bot.storage.deliveries import Delivery
from cogs.cancelling import OFFICE, CancelButton, office_of
from cogs.service import ServiceCog
from cogs.ways import DiscordWays, discord_answers

log = logging.getLogger(__name__)
AT_ONCE = 8
"""Messages with files that are sent at one time."""


class JobCog(ServiceCog):
    """Opens the office of its host bot, or shares the one that is open; the last one closes it."""

    async def cog_load(self) -> None:
        """Open or share; a bot that is up already takes up its jobs now, others when ready."""
        await super().cog_load()
        if getattr(self.bot, OFFICE, None) is None:
            setattr(self.bot, OFFICE, _office(self.bot, self.services))
            self.bot.add_dynamic_items(CancelButton)
        if self.bot.is_ready():
            await office_of(self.bot).resume()

    async def cog_unload(self) -> None:
        """Let deliveries that are under way end, unless another cog still has jobs."""
        others = [cog for cog in self.bot.cogs.values() if isinstance(cog, JobCog)]
        if not others:
            office = office_of(self.bot)
            await office.close(self.services.settings.stop_patience)
            self.bot.remove_dynamic_items(CancelButton)
            delattr(self.bot, OFFICE)
        await super().cog_unload()

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Take up the jobs of an earlier life of the bot."""
        await office_of(self.bot).resume()

    @commands.Cog.listener()
    async def on_app_command_completion(
        self,
        interaction: DiscordInteraction,
        command: app_commands.Command[ServiceCog, ..., None] | app_commands.ContextMenu,
    ) -> None:
        """Tell an author who is here about results that could not be sent."""
        office = office_of(self.bot)
        for kept in await office.kept_for(interaction.user.id):
            try:
                with discord_answers():
                    await answer(interaction, kept_words(kept))
            except (WayClosed, Unclear) as error:
                log.warning("a note about a kept result could not be sent: %s", error.reason)
                office.not_told(kept)
                return
            await office.told(kept)


def kept_words(kept: Delivery) -> str:
    """Say what became of a job whose result could not be sent."""
    job = kept.job
    what = f"{inline(job.leaderboard, 100)} on {inline(job.gpu, 100)} (job {code(job.id)})"
    if kept.words is not None:
        return f"Your profile of {what} has failed: {inline(kept.words, 1_500)}"
    return (
        f"Your profile of {what} has ended, but you could not be reached. Its counters are kept: "
        "see /profiles. Allow direct messages from this server to get the next one."
    )


def _office(bot: commands.Bot, services: Services) -> Office:
    office = Office(
        Tools(
            jobs=services.jobs,
            deliveries=services.deliveries,
            ways=DiscordWays(bot),
            pictures=services.pictures,
            at_once=Turns(AT_ONCE),
        )
    )
    if services.sole is not None:
        services.sole.when_lost(office.give_way)
    return office
