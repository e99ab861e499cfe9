"""/register, /whoami, /unregister: the account of a Discord user."""

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.jobs.model import ProfileRequest
from bot.services import Services
from cogs.account_texts import (
    KNOWN,
    LEAVE,
    LINKED,
    LINKED_BEFORE,
    NOBODY,
    UNLINKED,
    WELCOME,
    account_text,
    quota_text,
    rules_text,
    stored_text,
)
from cogs.asking import accept
from cogs.cancelling import office_of
from cogs.desk import JobCog
from cogs.embeds import WAITING
from cogs.gate import for_banned
from cogs.leaving import LeaveView
from cogs.own_view import OwnView
from cogs.registering import DESK, RegisterButton, Registration


class UnlinkView(OwnView):
    """Takes a terminal its right to speak for somebody."""

    def __init__(self, asked: DiscordInteraction, services: Services) -> None:
        super().__init__(asked)
        self._services = services

    @ui.button(label="Unlink popcorn-cli", style=discord.ButtonStyle.secondary)
    async def unlink(self, interaction: DiscordInteraction, _: "ui.Button[UnlinkView]") -> None:
        """Revoke the id."""
        self.stop()
        await interaction.response.defer()
        await self._services.accounts.unlink(interaction.user.id)
        await interaction.edit_original_response(content=UNLINKED, view=None)


class Account(JobCog):
    """Accounts of the bot's users."""

    async def cog_load(self) -> None:
        """Open the services, and a desk for newcomers who profile before they register."""
        await super().cog_load()

        setattr(self.bot, DESK, Registration(self.services.accounts, self._go_on))
        self.bot.add_dynamic_items(RegisterButton)

    async def cog_unload(self) -> None:
        """Forget what newcomers have asked for."""
        self.bot.remove_dynamic_items(RegisterButton)
        getattr(self.bot, DESK).close()
        delattr(self.bot, DESK)
        await super().cog_unload()

    @app_commands.command(description="Create your account here, or link your popcorn-cli to it.")
    @app_commands.describe(
        cli_id="The id in .popcorn.yaml, right after popcorn-cli has registered at this server"
    )
    async def register(
        self,
        interaction: DiscordInteraction,
        cli_id: app_commands.Range[str, 1, 2_000] | None = None,
    ) -> None:
        """Make the account row of the caller; calling it again changes nothing."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            user, accounts = interaction.user, self.services.accounts
            said = WELCOME if await accounts.register(user.id, user.name) else KNOWN
            if cli_id is not None:
                linked = await accounts.link(user.id, cli_id)
                said = LINKED if linked else LINKED_BEFORE
            embed = await self._account_embed(user.id)
            await interaction.edit_original_response(content=said, embed=embed)

    @app_commands.command(description="Show your account: quotas, what is stored, your terminal.")
    async def whoami(self, interaction: DiscordInteraction) -> None:
        """Show the caller's account."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        standing = await self.services.members.standing(interaction.user.id)
        if standing.account is None:
            await answer(interaction, NOBODY)
            return
        view = UnlinkView(interaction, self.services) if standing.account.linked else None
        embed = await self._account_embed(interaction.user.id)
        await interaction.edit_original_response(
            content=account_text(standing.account, standing), embed=embed, view=view
        )

    @for_banned
    @app_commands.command(description="Close your account and delete what you sent and got.")
    async def unregister(self, interaction: DiscordInteraction) -> None:
        """Ask before everything is deleted."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if not await self.services.accounts.is_registered(interaction.user.id):
            await answer(interaction, NOBODY)
            return
        view = LeaveView(interaction, self.services, office_of(self.bot))
        await interaction.edit_original_response(content=LEAVE, view=view)

    async def _go_on(self, interaction: DiscordInteraction, request: ProfileRequest) -> None:
        """Profile what a newcomer had asked for; from here on the button's reply is the address."""
        await accept(interaction, self.services, request)

    async def _account_embed(self, user_id: int) -> discord.Embed:
        settings = self.services.settings
        standing = await self.services.members.standing(user_id)
        text = quota_text(standing)
        embed = discord.Embed(title="What you may use", description=text, colour=WAITING)
        embed.add_field(name="Rules", value=rules_text(settings), inline=False)
        embed.add_field(name="What is stored", value=stored_text(settings), inline=False)
        return embed


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Account(bot))
