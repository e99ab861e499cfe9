"""/leaderboard: what can be profiled, and for admins the sync of a problems folder."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.leaderboards.errors import SourceError
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.sync import SyncReport
from bot.reports.neutral import code, inline
from bot.reports.reply import DESCRIPTION_LIMIT
from cogs.embeds import WAITING
from cogs.permissions import admin_only
from cogs.service import ServiceCog

NONE_YET = "There is no leaderboard yet; an admin can make some with /leaderboard sync."


class LeaderboardCog(ServiceCog, name="Leaderboard"):
    """Leaderboards of the bot."""

    leaderboard = app_commands.Group(name="leaderboard", description="Problems to profile against.")

    @leaderboard.command(name="list", description="Show the problems, their GPUs and deadlines.")
    async def show(self, interaction: DiscordInteraction) -> None:
        """List all leaderboards, from memory."""
        boards = self.services.catalogue.all()
        if not boards:
            await answer(interaction, NONE_YET)
            return
        embed = discord.Embed(
            title="Leaderboards", description=_as_lines(map(_line, boards)), colour=WAITING
        )
        await interaction.response.send_message(embed=embed, ephemeral=True)

    @admin_only
    @leaderboard.command(description="Admins: load the problems of a folder on the bot's machine.")
    @app_commands.describe(folder="A folder inside the bot's problems folder; none means all of it")
    async def sync(
        self, interaction: DiscordInteraction, folder: app_commands.Range[str, 1, 500] = "."
    ) -> None:
        """Sync leaderboards from a folder that must lie inside the problems folder."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            root = self.services.settings.problems
            source = await asyncio.to_thread(confined, root, folder)
            report = await self.services.leaderboards.sync_folder(source, interaction.user.id)
            embed = discord.Embed(
                title="Leaderboards synced", description=sync_words(report), colour=WAITING
            )
            await interaction.followup.send(embed=embed, ephemeral=True)


def confined(root: Path, folder: str) -> Path:
    """Return `folder` inside `root`, links followed. Raises SourceError. Blocks on the disk."""
    try:
        inside = (root / folder).resolve()
        found = inside.is_relative_to(root.resolve()) and inside.is_dir()
    except (OSError, ValueError):
        found = False
    if not found:
        raise SourceError(folder, "it is no folder inside the bot's problems folder")
    return inside


def sync_words(report: SyncReport) -> str:
    """Say what a sync did, one line a kind, one line a problem that was left out."""
    counted = {
        "created": report.created,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "closed": report.closed,
    }
    lines = [
        f"**{len(names)} {kind}**{': ' if names else ''}{', '.join(map(code, names[:20]))}"
        for kind, names in counted.items()
    ]
    lines += [f"skipped {code(skip.name)}: {inline(skip.reason)}" for skip in report.skipped]
    lines += [f"⚠️ {code(fault.name)}: {inline(fault.error)}" for fault in report.errors]
    return _as_lines(lines)


def _as_lines(lines: Iterable[str]) -> str:
    """Join whole lines up to an embed's limit, and say how many did not fit."""
    every = list(lines)
    kept: list[str] = []
    room = DESCRIPTION_LIMIT - 40
    for line in every:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"and {len(every) - len(kept)} more"])
        kept.append(line)
    return "\n".join(kept)


def _line(board: Leaderboard) -> str:
    shapes = len(board.task.benchmarks)
    gpus = ", ".join(map(code, board.gpus)) or "no GPU"
    until = f" · until <t:{int(board.deadline.timestamp())}:f>" if board.deadline else ""
    closed = " · closed" if board.closed else ""
    return f"**{inline(board.name, 100)}** · {gpus} · {shapes} shapes{until}{closed}"


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(LeaderboardCog(bot))
