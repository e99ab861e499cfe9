"""From a file and what somebody chose to an accepted job: one way in for command and menu."""

from dataclasses import dataclass, field

import discord

from bot.answers import DiscordInteraction, refusals_answered
from bot.jobs.errors import FileTooLarge, FileUnreadable, NotRegistered
from bot.jobs.model import ProfileRequest
from bot.services import Services
from cogs.address import address_of, check_permissions
from cogs.cancelling import office_of
from cogs.registering import offer
from runner_client.captures import CaptureOptions
from runner_client.logs import about_job
from runner_client.wire import MAX_SOURCE_BYTES


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
    """Read the file and accept one profile; the interaction was deferred privately.

    The office of the bot takes it from there, whatever becomes of the interaction.
    """
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
        try:
            await accept(interaction, services, request)
        except NotRegistered:
            if not await offer(interaction, request):
                raise


async def accept(
    interaction: DiscordInteraction, services: Services, request: ProfileRequest
) -> None:
    """Check and accept a request; the interaction was deferred privately. Raises Refused."""
    await check_permissions(interaction, services.watch.announce)
    address = address_of(interaction, services.settings.upload_limit)
    job = await services.jobs.submit(request, address)
    with about_job(job.id):
        await office_of(interaction.client).accept(job, address)


async def read(submission: discord.Attachment) -> bytes:
    """Return the attachment's bytes. Raises FileTooLarge without a download, FileUnreadable."""
    if submission.size > MAX_SOURCE_BYTES:
        raise FileTooLarge(submission.filename, submission.size, MAX_SOURCE_BYTES)
    try:
        return await submission.read()
    except discord.HTTPException:
        raise FileUnreadable(submission.filename) from None
