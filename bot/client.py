"""Builds the Discord client: no privileged intents, no mentions, every error answered."""

import asyncio
import hashlib
import logging
from pathlib import Path

import discord
import msgspec
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, answer_error
from bot.services import Services, provide

log = logging.getLogger(__name__)
EXTENSIONS = (
    "cogs.account",
    "cogs.kernels",
    "cogs.leaderboard",
    "cogs.menu",
    "cogs.profile",
    "cogs.profiles",
    "cogs.user_admin",
    "cogs.runners",
)
TREE_FILE = "commands.sha256"
ENDING = "The bot is about to restart: try again in a minute. Jobs under way are not lost."


class AnsweringTree(app_commands.CommandTree[discord.Client]):
    """A command tree that leaves no interaction without an answer."""

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Take no commands from when the bot is about to end."""
        ending = isinstance(self.client, NcuBot) and self.client.is_ending
        if ending and interaction.type is discord.InteractionType.application_command:
            await answer(interaction, ENDING)
        return not ending

    async def on_error(
        self, interaction: DiscordInteraction, error: app_commands.AppCommandError, /
    ) -> None:
        """Answer what neither a cog nor the command itself has answered."""
        command = interaction.command
        bound = getattr(command, "binding", None) or getattr(command, "on_error", None)
        if bound is None:
            await answer_error(interaction, error)


class NcuBot(commands.Bot):
    """The bot of `ncubot run`: our cogs and nothing else."""

    def __init__(self, services: Services) -> None:
        super().__init__(
            command_prefix=commands.when_mentioned,
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            help_command=None,
            tree_cls=AnsweringTree,
        )
        self._data = services.settings.data
        self.is_ending = False
        provide(self, services)

    async def close(self) -> None:
        """Take no more commands, let the cogs end what they are at, and leave Discord."""
        self.is_ending = True
        await super().close()

    async def setup_hook(self) -> None:
        """Load the cogs and tell Discord about their commands where they changed."""
        for extension in EXTENSIONS:
            await self.load_extension(extension)
        await sync_when_changed(self, self._data / TREE_FILE)


async def sync_when_changed(bot: commands.Bot, seen: Path) -> bool:
    """Sync the command tree unless `seen` says that Discord has it; tell whether it was synced."""
    digest = tree_digest(bot)
    if await asyncio.to_thread(_noted, seen) == digest:
        return False
    synced = await bot.tree.sync()
    log.info("synced %d commands", len(synced))
    await asyncio.to_thread(_note, seen, digest)
    return True


def _noted(seen: Path) -> str:
    return seen.read_text(encoding="ascii", errors="replace") if seen.is_file() else ""


def _note(seen: Path, digest: str) -> None:
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.write_text(digest, encoding="ascii")


def tree_digest(bot: commands.Bot) -> str:
    """Return a digest of all global commands and of the application that has them."""
    described = [command.to_dict(bot.tree) for command in bot.tree.get_commands()]
    text = msgspec.json.encode([str(bot.application_id), described], order="deterministic")
    return hashlib.sha256(text).hexdigest()
