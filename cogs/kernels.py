"""Answers the kernel pickers under replies, whichever process sent them."""

from discord.ext import commands

from cogs.picking import COG, KernelSelect
from cogs.service import ServiceCog


class Kernels(ServiceCog, name=COG):
    """Answers the kernel picker."""

    async def cog_load(self) -> None:
        """Open the services and answer the menus of all messages, old ones too."""
        await super().cog_load()
        self.bot.add_dynamic_items(KernelSelect)

    async def cog_unload(self) -> None:
        """Answer no more."""
        self.bot.remove_dynamic_items(KernelSelect)
        await super().cog_unload()


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Kernels(bot))
