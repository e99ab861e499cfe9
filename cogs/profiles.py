"""/profiles: what somebody has profiled before, for nobody but them; admins by an open option."""

import asyncio
import io
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.jobs.errors import NotYours, OptionForAdmins
from bot.jobs.history import Nothing, is_under_way, refuse_over
from bot.jobs.model import JobOutcome, PastJob, PastProfile, Whose
from bot.reports.comparison import compare_profiles
from bot.reports.neutral import clip, code, plain
from bot.reports.nothing import nothing_came
from bot.reports.past import file_messages, label, short_id
from bot.reports.reply import compose
from cogs.cancelling import office_of
from cogs.choices import MOST, NAME_LIMIT
from cogs.desk import JobCog
from cogs.past_view import COG, PageButton, list_embed, list_view
from cogs.permissions import is_admin
from cogs.resend import Resender
from cogs.sync_view import who_asks

LATEST = 100
"""Jobs that are offered while somebody types."""
WHOLE = "comparison.txt"
JOB = "The job; type to search among yours, or the first digits of its id"
USER = "Admins: whose profiles of this server; it is written down that you asked"
JobId = app_commands.Range[str, 1, NAME_LIMIT]
_PROFILE = re.compile(r"([0-9a-f]{32})\.([0-9]{1,4})")
Choices = list[app_commands.Choice[str]]


class Profiles(JobCog, name=COG):
    """Profiles of the past."""

    profiles = app_commands.Group(name="profiles", description="What you have profiled before.")

    async def cog_load(self) -> None:
        """Open the services and answer the buttons of all lists, old ones too."""
        await super().cog_load()
        self.bot.add_dynamic_items(PageButton)

    async def cog_unload(self) -> None:
        """Answer no more."""
        self.bot.remove_dynamic_items(PageButton)
        await super().cog_unload()

    @profiles.command(name="list", description="List what you have profiled, newest first.")
    @app_commands.describe(user=USER)
    async def list_jobs(
        self, interaction: DiscordInteraction, user: discord.User | None = None
    ) -> None:
        """Show the first page of somebody's jobs."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction), self._whose(interaction, user, "list") as whose:
            page = await self.services.history.page(whose, 0)
            view = list_view(page, interaction.user.id, whose.user_id)
            await interaction.edit_original_response(embed=list_embed(page), view=view)

    @profiles.command(description="Show the reply to one of your profiles again.")
    @app_commands.describe(job=JOB, user=USER)
    async def show(
        self, interaction: DiscordInteraction, job: JobId, user: discord.User | None = None
    ) -> None:
        """Build the reply of a job from what is on the disk and send it."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with (
            refusals_answered(interaction),
            self._whose(interaction, user, "show", job) as whose,
        ):
            past = await self.services.history.find(whose, job)
            shown = await self.services.history.show(past)
            sender = Resender(interaction, self.services.settings.upload_limit)
            if isinstance(shown, Nothing):
                await sender.send(past.id, (nothing_came(shown.job, shown.words),))
                return
            messages = await asyncio.to_thread(compose, shown, sender.limit)
            is_author = whose.user_id == interaction.user.id
            await sender.send(past.id, messages, picker=is_author)
            await sender.illustrate(shown, self.services.pictures)

    @profiles.command(description="Get the files of one of your profiles again.")
    @app_commands.describe(job=JOB, user=USER)
    async def files(
        self, interaction: DiscordInteraction, job: JobId, user: discord.User | None = None
    ) -> None:
        """Send reports, tables and the manifest of a job."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with (
            refusals_answered(interaction),
            self._whose(interaction, user, "files", job) as whose,
        ):
            past = await self.services.history.find(whose, job)
            outcome = await self.services.history.files(past)
            sender = Resender(interaction, self.services.settings.upload_limit)
            messages = await asyncio.to_thread(file_messages, past, outcome, sender.limit)
            await sender.send(past.id, messages)

    @profiles.command(description="Compare two of your profiles, kernel by kernel.")
    @app_commands.describe(
        a="The profile from before; type to search among yours",
        b="The profile to hold against it",
        user=USER,
    )
    async def compare(
        self,
        interaction: DiscordInteraction,
        a: JobId,
        b: JobId,
        user: discord.User | None = None,
    ) -> None:
        """Show what became of each kernel's counters between two profiles."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with (
            refusals_answered(interaction),
            self._whose(interaction, user, "compare", f"{a} {b}") as whose,
        ):
            before, after = await self._profile(whose, a), await self._profile(whose, b)
            compared = await asyncio.to_thread(compare_profiles, before, after)
            whole = io.BytesIO(compared.whole) if compared.whole else None
            files = [discord.File(whole, WHOLE)] if whole else []
            await interaction.edit_original_response(content=compared.content, attachments=files)

    @profiles.command(description="End one of your jobs that is under way.")
    @app_commands.describe(job=JOB, user=USER)
    async def cancel(
        self, interaction: DiscordInteraction, job: JobId, user: discord.User | None = None
    ) -> None:
        """Ask for a job's end; what was captured so far is still delivered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with (
            refusals_answered(interaction),
            self._whose(interaction, user, "cancel", job) as whose,
        ):
            past = await self.services.history.find(whose, job)
            refuse_over(past)
            await office_of(interaction.client).cancel(past.id, whose.user_id)
            name = code(short_id(past.id))
            await answer(interaction, f"Job {name} ends; what it captured so far is delivered.")

    @profiles.command(description="Delete one of your jobs: its files, your code, its counters.")
    @app_commands.describe(job=JOB, user=USER)
    async def delete(
        self, interaction: DiscordInteraction, job: JobId, user: discord.User | None = None
    ) -> None:
        """Delete what was sent and got with a job that is over."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with (
            refusals_answered(interaction),
            self._whose(interaction, user, "delete", job) as whose,
        ):
            past = await self.services.history.find(whose, job)
            await self.services.history.delete(whose, past)
            name = code(short_id(past.id))
            await answer(
                interaction,
                f"Job {name} is deleted here: files, code and counters. Messages that you got "
                "stay, and quotas still count it.",
            )

    @compare.autocomplete("a")
    @compare.autocomplete("b")
    async def complete_profile(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own profiles, newest first."""
        if _about_somebody_else(interaction):
            return []
        past = await self.services.jobs.past_profiles(interaction.user.id, LATEST)
        return _matching(((_label(profile), _value(profile)) for profile in past), current)

    @show.autocomplete("job")
    async def complete_job(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own jobs, newest first."""
        return _matching(_named(await self._newest(interaction)), current)

    @files.autocomplete("job")
    async def complete_with_files(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own jobs that have files here."""
        newest = await self._newest(interaction)
        return _matching(_named(job for job in newest if job.size), current)

    @cancel.autocomplete("job")
    async def complete_under_way(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own jobs that can be cancelled."""
        newest = await self._newest(interaction)
        return _matching(_named(job for job in newest if is_under_way(job)), current)

    @delete.autocomplete("job")
    async def complete_over(self, interaction: DiscordInteraction, current: str) -> Choices:
        """Offer the caller's own jobs that can be deleted."""
        newest = await self._newest(interaction)
        return _matching(_named(job for job in newest if not is_under_way(job)), current)

    @asynccontextmanager
    async def _whose(
        self,
        interaction: DiscordInteraction,
        user: discord.User | None,
        action: str,
        job: str = "",
    ) -> AsyncIterator[Whose]:
        """Say whose jobs a command is about: the caller's, or what an admin asks for, written down.

        An admin sees what was asked for in the very server. Raises OptionForAdmins.
        """
        if user is None or user.id == interaction.user.id:
            yield Whose(interaction.user.id)
            return
        if not is_admin(interaction, self.services.settings.admin_role):
            raise OptionForAdmins("user")
        who, arguments = who_asks(interaction), {"job": job} if job else {}
        async with self.services.audit.about(who, f"profiles {action}", str(user.id), arguments):
            yield Whose(user.id, interaction.guild_id)

    async def _newest(self, interaction: DiscordInteraction) -> tuple[PastJob, ...]:
        if _about_somebody_else(interaction):
            return ()
        return await self.services.history.newest(Whose(interaction.user.id), LATEST)

    async def _profile(self, whose: Whose, value: str) -> JobOutcome:
        """Return the profile that an option names. Raises NotYours, ResultGone."""
        match = _PROFILE.fullmatch(value.strip())
        if match is None:
            raise NotYours(value)
        past = await self.services.history.find(whose, match[1])
        return await self.services.jobs.load(past.id, whose.user_id, int(match[2]))


def _about_somebody_else(interaction: DiscordInteraction) -> bool:
    """Whether an admin is about to ask for another's jobs, which are not offered unasked."""
    user = getattr(interaction.namespace, "user", None)
    return user is not None and user.id != interaction.user.id


def _matching(labelled: Iterable[tuple[str, str]], typed: str) -> Choices:
    wanted = typed.strip().casefold()
    matching = [pair for pair in labelled if wanted in pair[0].casefold() or wanted == pair[1]]
    return [app_commands.Choice(name=name, value=value) for name, value in matching[:MOST]]


def _named(jobs: Iterable[PastJob]) -> list[tuple[str, str]]:
    return [(clip(label(job), NAME_LIMIT), job.id) for job in jobs]


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
