"""/user: what admins see of users, and whom they let in how often."""

import logging

from discord import User, app_commands
from discord.ext import commands

from bot.accounts.quota import MOST_JOBS, UNDER_WAY, rule_words
from bot.answers import DiscordInteraction, answer, refusals_answered
from bot.jobs.errors import OptionInvalid, RunnerFault
from bot.reports.message import DESCRIPTION_LIMIT
from bot.reports.neutral import clip, code, inline
from bot.storage.bans import MAX_REASON
from cogs.account_texts import entries_text, member_text, quota_text
from cogs.cancelling import office_of
from cogs.choices import rule_choices
from cogs.desk import JobCog
from cogs.permissions import admin_only
from cogs.sync_view import report_embed, who_asks

log = logging.getLogger(__name__)
WHOM = "The user, or the id of somebody who is not on this server"
ALL_AT_ONCE = "jobs at once"


class UserAdmin(JobCog, name="Users"):
    """Users of the bot, for its admins."""

    user = app_commands.Group(name="user", description="Admins: who may use the bot, how much.")

    @admin_only
    @user.command(description="Admins: ban somebody from the bot; their jobs are cancelled.")
    @app_commands.describe(user=WHOM, reason="What they are told when they try")
    async def ban(
        self,
        interaction: DiscordInteraction,
        user: User,
        reason: app_commands.Range[str, 1, MAX_REASON],
    ) -> None:
        """Ban a user from the bot."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            if user.id == interaction.user.id:
                raise OptionInvalid("user", "it is yourself")
            await self.services.members.ban(user.id, reason, who_asks(interaction))
            stopped = await self._cancel_all(user.id)
            jobs = f"; {stopped} under way cancelled" if stopped else ""
            await answer(interaction, f"{code(user.name)} is banned{jobs}.")

    @admin_only
    @user.command(description="Admins: let somebody in again.")
    @app_commands.describe(user=WHOM)
    async def unban(self, interaction: DiscordInteraction, user: User) -> None:
        """Lift a ban."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        lifted = await self.services.members.unban(user.id, who_asks(interaction))
        said = "may use the bot again" if lifted else "was not banned"
        await answer(interaction, f"{code(user.name)} {said}.")

    @admin_only
    @user.command(description="Admins: show somebody's account, quotas, ban and history.")
    @app_commands.describe(user=WHOM)
    async def show(self, interaction: DiscordInteraction, user: User) -> None:
        """Show how a user stands; nothing of what they profile."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        members = self.services.members
        standing = await members.standing(user.id)
        text = member_text(user.id, standing, members.ban_of(user.id))
        embed = report_embed(inline(user.name, 100), clip(text, DESCRIPTION_LIMIT))
        history = entries_text(await members.entries(user.id))
        if history:
            embed.add_field(name="What admins did", value=history, inline=False)
        await interaction.edit_original_response(embed=embed)

    @admin_only
    @user.command(description="Admins: allow somebody more or fewer jobs than the settings do.")
    @app_commands.describe(
        user=WHOM,
        rule="The rule of the settings that is another one for this user",
        jobs="Jobs that it allows them; none given means as many as the settings say",
    )
    async def quota(
        self,
        interaction: DiscordInteraction,
        user: User,
        rule: app_commands.Range[str, 1, 400],
        jobs: app_commands.Range[int, 0, MOST_JOBS] | None = None,
    ) -> None:
        """Change one rule for one user."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with refusals_answered(interaction):
            if rule not in self._rules():
                raise OptionInvalid("rule", "choose one of those that are offered")
            members = self.services.members
            await members.set_quota(user.id, rule, jobs, who_asks(interaction))
            embed = report_embed("What they may use", quota_text(await members.standing(user.id)))
            await interaction.edit_original_response(embed=embed)

    @quota.autocomplete("rule")
    async def complete_rule(
        self, _: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Offer the rules of the settings."""
        return rule_choices(self._rules(), current)

    def _rules(self) -> dict[str, str]:
        """Return every rule's words by its key."""
        limits = self.services.members.limits
        words = {limits.key(quota): rule_words(quota, quota.jobs) for quota in limits.quotas}
        return {UNDER_WAY: f"{limits.under_way} {ALL_AT_ONCE}", **words}

    async def _cancel_all(self, user_id: int) -> int:
        """Cancel a user's jobs and return how many; where a runner is away they go on."""
        under_way = await self.services.members.under_way(user_id)
        for job_id in under_way:
            try:
                await office_of(self.bot).cancel(job_id, user_id)
            except RunnerFault as fault:
                log.warning("job %s could not be cancelled: %r", job_id, fault)
        return len(under_way)


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(UserAdmin(bot))
