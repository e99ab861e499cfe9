"""/profile: a kernel goes in, counters come out."""

from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.answers import DiscordInteraction
from bot.leaderboards.model import Leaderboard
from cogs.asking import Asked, profile
from cogs.choices import benchmark_choices, gpu_choices, leaderboard_choices
from cogs.deferring import defer
from cogs.desk import JobCog
from runner_client.captures import (
    DEFAULT_LAUNCHES,
    MAX_LAUNCHES,
    CaptureMode,
    KernelNameBase,
    Preset,
    capture_options,
)

NameBase = Literal["function", "demangled", "mangled"]
ModeName = Literal["hot", "first", "range", "census"]
PresetName = Literal["quick", "standard", "full", "roofline"]


class Profile(JobCog):
    """Profiles of submissions."""

    @app_commands.command(
        description="Profile a kernel with Nsight Compute; the reply is yours alone."
    )
    @app_commands.describe(
        submission="Your file: .py for Python problems, .cu .cuh .cpp for CUDA ones",
        leaderboard="The problem; may stand in the file as #!POPCORN leaderboard NAME",
        gpu="The GPU; not needed where there is only one",
        benchmark="One benchmark shape; none means every shape, one report each",
        kernel_name="Capture only kernels of this name, or regex:EXPRESSION",
        kernel_name_base="Which form of the name is compared",
        launch_count=f"Kernel launches captured a shape; {DEFAULT_LAUNCHES} where not given",
        capture="What: the hot kernels (usual), the first launches, the range as one, or a count",
        preset="How many counters; full where not given, fewer are faster and make smaller files",
    )
    async def profile(  # noqa: PLR0913, PLR0917 - Discord's options are the parameters
        self,
        interaction: DiscordInteraction,
        submission: discord.Attachment,
        leaderboard: str | None = None,
        gpu: str | None = None,
        benchmark: app_commands.Range[int, 0, 9_999] | None = None,
        kernel_name: app_commands.Range[str, 1, 1_024] | None = None,
        kernel_name_base: NameBase | None = None,
        launch_count: app_commands.Range[int, 1, MAX_LAUNCHES] | None = None,
        capture: ModeName | None = None,
        preset: PresetName | None = None,
    ) -> None:
        """Check, queue, follow and deliver one profile."""
        await defer(interaction)
        asked = Asked(
            leaderboard=leaderboard,
            gpu=gpu,
            benchmark=benchmark,
            capture=capture_options(
                mode=CaptureMode(capture) if capture else None,
                preset=Preset(preset) if preset else None,
                kernel_name=kernel_name,
                kernel_name_base=KernelNameBase(kernel_name_base) if kernel_name_base else None,
                launch_count=launch_count,
            ),
        )
        await profile(interaction, self.services, submission, asked)

    @profile.autocomplete("leaderboard")
    async def complete_leaderboard(
        self, interaction: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the names of open leaderboards."""
        return leaderboard_choices(self.services.catalogue.all(), current)

    @profile.autocomplete("gpu")
    async def complete_gpu(
        self, interaction: DiscordInteraction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Complete the GPUs of the leaderboard typed so far."""
        runners = self.services.runners
        return gpu_choices(self._board(interaction), runners.gpus(), current, runners.names)

    @profile.autocomplete("benchmark")
    async def complete_benchmark(
        self, interaction: DiscordInteraction, current: int | str
    ) -> list[app_commands.Choice[int]]:
        """Complete the shapes of the leaderboard typed so far."""
        return benchmark_choices(self._board(interaction), str(current))

    def _board(self, interaction: DiscordInteraction) -> Leaderboard | None:
        name = interaction.namespace.leaderboard
        return self.services.catalogue.get(name) if isinstance(name, str) else None


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Profile(bot))
