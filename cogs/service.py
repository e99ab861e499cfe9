"""What every cog here shares: the services of its host bot, and errors that are always answered."""

from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer_error
from bot.services import Services, acquire, release
from cogs.gate import check_let_in


class ServiceCog(commands.Cog):
    """Takes the host bot's services while loaded; the last cog that goes closes them."""

    services: Services

    def __init__(self, bot: commands.Bot) -> None:
        self.bot = bot

    async def cog_load(self) -> None:
        """Open the services, or share those that another cog opened."""
        self.services = await acquire(self.bot)

    async def cog_unload(self) -> None:
        """Let go of the services."""
        await release(self.bot)

    async def interaction_check(self, interaction: DiscordInteraction, /) -> bool:
        """Let nobody banned call a command of this cog."""
        return check_let_in(interaction)

    async def cog_app_command_error(
        self, interaction: DiscordInteraction, error: app_commands.AppCommandError
    ) -> None:
        """Answer what left one of this cog's commands."""
        await answer_error(interaction, error)
