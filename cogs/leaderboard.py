"""/leaderboard: what can be profiled; for admins its sync, closing and opening."""

import io
from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.service import Request
from bot.leaderboards.starter import starter_file
from bot.reports.neutral import code, inline
from cogs.board_texts import NONE_YET, facts, history_text, list_text, preview_text, shapes
from cogs.choices import board_choices
from cogs.embeds import WAITING
from cogs.permissions import admin_only
from cogs.service import ServiceCog
from cogs.sync_view import SyncView, report_embed, who_asks

Language = Literal["CUDA", "Python", "Triton", "HIP", "CuteDSL"]
NAME = "The leaderboard's name"


class LeaderboardCog(ServiceCog, name="Leaderboard"):
    """Leaderboards of the bot."""

    leaderboard = app_commands.Group(name="leaderboard", description="Problems to profile against.")

    @leaderboard.command(name="list", description="Show the problems, their GPUs and deadlines.")
    async def list_all(self, interaction: DiscordInteraction) -> None:
        """List all leaderboards, from memory."""
        boards = self.services.catalogue.all()
        if not boards:
            await answer(interaction, NONE_YET)
            return
        embed = report_embed("Leaderboards", list_text(boards))
        await interaction.response.send_message(embed=embed, ephemeral=True)

    @leaderboard.command(description="Show one problem: shapes, GPUs, deadline, commit, profiles.")
    @app_commands.describe(name=NAME)
    async def show(self, interaction: DiscordInteraction, name: str) -> None:
        """Show one leaderboard, from memory."""
        async with refusals_answered(interaction):
            board = self.services.leaderboards.find(name)
            await interaction.response.send_message(embed=_board_embed(board), ephemeral=True)

    @leaderboard.command(description="Get the file that a submission to a problem starts from.")
    @app_commands.describe(name=NAME, language="Which starter file, where there are several")
    async def template(
        self, interaction: DiscordInteraction, name: str, language: Language | None = None
    ) -> None:
        """Send a starter file."""
        async with refusals_answered(interaction):
            starter = starter_file(self.services.leaderboards.find(name), language)
            file = discord.File(io.BytesIO(starter.text.encode()), filename=starter.name)
            await interaction.response.send_message(
                inline(starter.words), file=file, ephemeral=True
            )

    @leaderboard.command(description="Show what became of a problem: its states and who did what.")
    @app_commands.describe(name=NAME)
    async def history(self, interaction: DiscordInteraction, name: str) -> None:
        """Show the newest states of a leaderboard and what admins did to it."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            board = self.services.leaderboards.find(name)
            history = await self.services.leaderboards.history(board)
            embed = report_embed(f"History of {inline(board.name, 100)}", history_text(history))
            await interaction.followup.send(embed=embed, ephemeral=True)

    @admin_only
    @leaderboard.command(description="Admins: load problems from a git repository or a folder.")
    @app_commands.describe(
        source="A git URL, owner/name on GitHub, or a folder inside the bot's problems folder",
        ref="A branch, a tag or a full commit; the default branch where not given",
        problem_set="Only this competition YAML, by its name without ending",
    )
    async def sync(
        self,
        interaction: DiscordInteraction,
        source: app_commands.Range[str, 1, 500] = ".",
        ref: app_commands.Range[str, 1, 200] | None = None,
        problem_set: app_commands.Range[str, 1, 200] | None = None,
    ) -> None:
        """Show what a sync would do; it acts when the admin confirms."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            service = self.services.leaderboards
            reading = await service.read(Request(source=source, ref=ref, problem_set=problem_set))
            plan = await service.plan(reading)
            if not plan.acts and not plan.held:
                report = await service.apply(reading, who_asks(interaction))
                embed = report_embed("Nothing to change", preview_text(report))
                await interaction.followup.send(embed=embed, ephemeral=True)
                return
            view = SyncView(interaction, self.services, reading, plan)
            embed = report_embed("This would change", preview_text(plan))
            await interaction.followup.send(embed=embed, view=view, ephemeral=True)

    @admin_only
    @leaderboard.command(description="Admins: take no more work for a problem; syncs respect it.")
    @app_commands.describe(name=NAME)
    async def close(self, interaction: DiscordInteraction, name: str) -> None:
        """Close a leaderboard until an admin opens it."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            board = await self.services.leaderboards.close(name, who_asks(interaction))
            await answer(interaction, f"{code(board.name)} is closed until an admin opens it.")

    @admin_only
    @leaderboard.command(name="open", description="Admins: take work for a closed problem again.")
    @app_commands.describe(name=NAME)
    async def reopen(self, interaction: DiscordInteraction, name: str) -> None:
        """Open a leaderboard that was closed."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            board = await self.services.leaderboards.reopen(name, who_asks(interaction))
            await answer(interaction, f"{code(board.name)} is open.")

    @admin_only
    @leaderboard.command(description="Admins: let profiles run although the check refuses them.")
    @app_commands.describe(name=NAME, allowed="Whether profiles run whatever the check says")
    async def override(
        self, interaction: DiscordInteraction, name: str, allowed: bool = True
    ) -> None:
        """Overrule what the check says of a leaderboard's evaluator."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            service, who = self.services.leaderboards, who_asks(interaction)
            board = await service.override_check(name, who, overridden=allowed)
            words = "run whatever the check says" if allowed else "depend on the check again"
            await answer(interaction, f"Profiles of {code(board.name)} {words}.")

    @show.autocomplete("name")
    @override.autocomplete("name")
    @template.autocomplete("name")
    @history.autocomplete("name")
    async def complete_any(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of all leaderboards."""
        return board_choices(self.services.catalogue.all(), current)

    @close.autocomplete("name")
    async def complete_open(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of open leaderboards."""
        return board_choices(self.services.catalogue.all(), current, closed=False)

    @reopen.autocomplete("name")
    async def complete_closed(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of closed leaderboards."""
        return board_choices(self.services.catalogue.all(), current, closed=True)


def _board_embed(board: Leaderboard) -> discord.Embed:
    title = f"{inline(board.name, 100)} · {inline(board.competition, 100)}"
    embed = discord.Embed(title=title, description=shapes(board), colour=WAITING)
    for name, value in facts(board).items():
        embed.add_field(name=name, value=value, inline=len(value) < 40)
    return embed


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(LeaderboardCog(bot))
