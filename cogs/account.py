"""/register: the account of a Discord user."""

from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from cogs.service import ServiceCog

WELCOME = "You are registered. Type /profile and attach a kernel to get its counters."
KNOWN = "You were registered already; nothing changed."


class Account(ServiceCog):
    """Accounts of the bot's users."""

    @app_commands.command(description="Create your account here; /profile needs one.")
    async def register(self, interaction: DiscordInteraction) -> None:
        """Make the account row of the caller; calling it again changes nothing."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            user = interaction.user
            is_new = await self.services.accounts.register(user.id, user.name)
            await answer(interaction, WELCOME if is_new else KNOWN)


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Account(bot))
