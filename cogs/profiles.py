"""/profiles: what somebody has profiled before, for nobody but them."""

import asyncio
import io
import re

import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, refusals_answered
from bot.jobs.errors import NotYours
from bot.jobs.model import JobOutcome, PastProfile
from bot.reports.comparison import compare_profiles
from bot.reports.neutral import clip, plain
from cogs.choices import MOST, NAME_LIMIT
from cogs.service import ServiceCog

LATEST = 100
"""Jobs that are offered while somebody types."""
WHOLE = "comparison.txt"
_PROFILE = re.compile(r"([0-9a-f]{32})\.([0-9]{1,4})")
Choices = list[app_commands.Choice[str]]


class Profiles(ServiceCog):
    """Profiles of the past."""

    profiles = app_commands.Group(name="profiles", description="What you have profiled before.")

    @profiles.command(description="Compare two of your profiles, kernel by kernel.")
    @app_commands.describe(
        a="The profile from before; type to search among yours",
        b="The profile to hold against it",
    )
    async def compare(
        self,
        interaction: DiscordInteraction,
        a: app_commands.Range[str, 1, NAME_LIMIT],
        b: app_commands.Range[str, 1, NAME_LIMIT],
    ) -> None:
        """Show what became of each kernel's counters between two profiles."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            before, after = await self._own(interaction, a), await self._own(interaction, b)
            compared = await asyncio.to_thread(compare_profiles, before, after)
            whole = io.BytesIO(compared.whole) if compared.whole else None
            files = [discord.File(whole, WHOLE)] if whole else []
            await interaction.edit_original_response(content=compared.content, attachments=files)

    @compare.autocomplete("a")
    @compare.autocomplete("b")
    async def complete_profile(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own profiles, newest first."""
        past = await self.services.jobs.past_profiles(interaction.user.id, LATEST)
        labelled = [(_label(profile), _value(profile)) for profile in past]
        wanted = current.strip().casefold()
        matching = [pair for pair in labelled if wanted in pair[0].casefold() or wanted == pair[1]]
        return [app_commands.Choice(name=name, value=value) for name, value in matching[:MOST]]

    async def _own(self, interaction: DiscordInteraction, value: str) -> JobOutcome:
        """Return the profile that an option names. Raises NotYours, ResultGone."""
        match = _PROFILE.fullmatch(value.strip())
        if match is None:
            raise NotYours(value)
        return await self.services.jobs.load(match[1], interaction.user.id, int(match[2]))


def _label(profile: PastProfile) -> str:
    """Name a profile: `2026-01-01 12:00 · qr_v2 0 on H200 · starter.py · batch: 20; n: 32`."""
    when = f"{profile.created_at:%Y-%m-%d %H:%M}"
    where = f"{profile.leaderboard} {profile.benchmark.index} on {profile.gpu}"
    text = f"{when} · {where} · {profile.file_name} · {profile.benchmark.spec}"
    return clip(" ".join(plain(text).split()), NAME_LIMIT)


def _value(profile: PastProfile) -> str:
    return f"{profile.job_id}.{profile.benchmark.index}"


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Profiles(bot))
