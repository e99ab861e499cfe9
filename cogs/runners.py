"""/runners: what admins see of the runners, and which get no new jobs. Tells them of outages."""

import logging

import aiohttp
import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.jobs.health import to_log
from bot.reports.neutral import code, inline
from bot.reports.runner_list import runners_text
from cogs.choices import MOST
from cogs.permissions import admin_only
from cogs.service import ServiceCog
from cogs.sync_view import report_embed, who_asks

log = logging.getLogger(__name__)
NAME = "The runner's name in the bot's settings"
ANNOUNCED_LIMIT = 1_900
BROKEN_STATUS = 500


class RunnersCog(ServiceCog, name="Runners"):
    """The runners of the bot."""

    runners = app_commands.Group(name="runners", description="Admins: the bot's GPU machines.")

    async def cog_load(self) -> None:
        """Open the services and tell admins from now on."""
        await super().cog_load()
        self.services.watch.announce = self.announce

    async def cog_unload(self) -> None:
        """Leave the rest to the log."""
        self.services.watch.announce = to_log
        await super().cog_unload()

    @admin_only
    @runners.command(name="list", description="Admins: show each runner's state, queue, versions.")
    async def list_all(self, interaction: DiscordInteraction) -> None:
        """Show what is known of the runners, from memory."""
        embed = report_embed("Runners", runners_text(self.services.runners.states()))
        await interaction.response.send_message(embed=embed, ephemeral=True)

    @admin_only
    @runners.command(description="Admins: give a runner no new jobs; what it has goes on.")
    @app_commands.describe(name=NAME)
    async def drain(self, interaction: DiscordInteraction, name: str) -> None:
        """Take a runner out until an admin puts it back, also over restarts."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            who, audit = who_asks(interaction), self.services.audit
            async with audit.about(who, "runners drain", name) as note:
                changed = await self.services.watch.drain(name, who.id)
                note.outcome = "drained" if changed else "was drained already"
            await answer(interaction, self._drained(name))

    @admin_only
    @runners.command(description="Admins: give a drained runner jobs again.")
    @app_commands.describe(name=NAME)
    async def resume(self, interaction: DiscordInteraction, name: str) -> None:
        """Put a runner back."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            who, audit = who_asks(interaction), self.services.audit
            async with audit.about(who, "runners resume", name) as note:
                changed = await self.services.watch.resume(name)
                note.outcome = "resumed" if changed else "was not drained"
            state = self.services.runners.state(name)
            words = f", but it is {state.standing}" if state.is_out else ""
            await answer(interaction, f"Runner {code(name)} gets new jobs again{words}.")

    @drain.autocomplete("name")
    async def complete_working(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of runners that are not drained."""
        return self._names(current, drained=False)

    @resume.autocomplete("name")
    async def complete_drained(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of drained runners."""
        return self._names(current, drained=True)

    async def announce(self, text: str) -> bool:
        """Tell admins something in their channel, else in the log; False where not now."""
        number = self.services.settings.admin_channel
        if number is None:
            return await to_log(text)
        if not self.bot.is_ready():
            return False
        try:
            await self._send(number, text)
        except discord.InvalidData:
            return await to_log(f"{text} (the admin channel takes no messages)")
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            if isinstance(error, discord.HTTPException) and error.status < BROKEN_STATUS:
                return await to_log(f"{text} (the admin channel could not be told: {error})")
            log.warning("admins could not be told now: %s", type(error).__name__)
            return False
        return True

    async def _send(self, number: int, text: str) -> None:
        channel = self.bot.get_channel(number) or await self.bot.fetch_channel(number)
        if not isinstance(channel, discord.abc.Messageable):
            raise discord.InvalidData(type(channel).__name__)
        nobody = discord.AllowedMentions.none()
        await channel.send(inline(text, ANNOUNCED_LIMIT), allowed_mentions=nobody)

    def _drained(self, name: str) -> str:
        """Say what a drain leaves."""
        runners = self.services.runners
        gpu = runners.state(name).gpu
        left = gpu in runners.gpus()
        words = "" if left else f" No other runner takes jobs for {inline(gpu, 100)} now."
        return f"Runner {code(name)} gets no new jobs; what it has goes on.{words}"

    def _names(self, typed: str, *, drained: bool) -> list[app_commands.Choice[str]]:
        wanted = typed.strip().casefold()
        states = self.services.runners.states()
        names = [state.name for state in states if state.drained is drained]
        matching = [name for name in names if wanted in name.casefold()]
        return [app_commands.Choice(name=name, value=name) for name in matching[:MOST]]


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(RunnersCog(bot))
