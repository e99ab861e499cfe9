"""From a file and what somebody chose to a delivered profile: one way in for command and menu."""

from dataclasses import dataclass, field

import discord

from bot.answers import DiscordInteraction, refusals_answered
from bot.jobs.errors import FileTooLarge, FileUnreadable
from bot.jobs.model import ProfileRequest
from bot.services import Services
from cogs.following import follow
from runner_client.logs import about_job
from runner_client.wire import MAX_SOURCE_BYTES, CaptureOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was chosen beside the file; None means that the file or the bot decides."""

    leaderboard: str | None = None
    gpu: str | None = None
    benchmark: int | None = None
    capture: CaptureOptions = field(default_factory=CaptureOptions)


async def profile(
    interaction: DiscordInteraction,
    services: Services,
    submission: discord.Attachment,
    asked: Asked,
) -> None:
    """Check, queue, follow and deliver one profile; the interaction was deferred privately."""
    async with refusals_answered(interaction):
        request = ProfileRequest(
            user_id=interaction.user.id,
            file_name=submission.filename,
            source=await read(submission),
            leaderboard=asked.leaderboard,
            gpu=asked.gpu,
            benchmark=asked.benchmark,
            capture=asked.capture,
            channel_id=interaction.channel_id,
            guild_id=interaction.guild_id,
        )
        job = await services.jobs.submit(request)
        with about_job(job.id):
            await follow(interaction, services, job)


async def read(submission: discord.Attachment) -> bytes:
    """Return the attachment's bytes. Raises FileTooLarge without a download, FileUnreadable."""
    if submission.size > MAX_SOURCE_BYTES:
        raise FileTooLarge(submission.filename, submission.size, MAX_SOURCE_BYTES)
    try:
        return await submission.read()
    except discord.HTTPException:
        raise FileUnreadable(submission.filename) from None
