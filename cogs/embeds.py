"""From the reply's plain values to discord.py's objects."""

import discord

from bot.jobs.model import Job
from bot.reports.illustrate import Illustration
from bot.reports.message import TITLE_LIMIT, ReplyMessage, Tone
from bot.reports.neutral import clip, plain
from bot.reports.uploads import Upload

COLOURS = {
    Tone.GOOD: discord.Colour(0x76B900),
    Tone.WARNING: discord.Colour(0xF0B232),
    Tone.BAD: discord.Colour(0xDA373C),
}
WAITING = discord.Colour(0x5865F2)


def reply_embed(message: ReplyMessage) -> discord.Embed:
    """Build the embed of a reply."""
    embed = discord.Embed(
        title=message.title, description=message.description, colour=COLOURS[message.tone]
    )
    for fact in message.facts:
        embed.add_field(name=fact.name, value=fact.value, inline=not fact.wide)
    if message.footer:
        embed.set_footer(text=message.footer)
    return embed


def illustration_embeds(shown: Illustration) -> list[discord.Embed]:
    """Build an embed a picture, which a gallery would crop; the first one says what they are of."""
    embeds = [
        discord.Embed(colour=WAITING).set_image(url=f"attachment://{file.name}")
        for file in shown.files
    ] or [discord.Embed(colour=WAITING)]
    embeds[0].title, embeds[0].description = shown.title, shown.missing or None
    return embeds


def progress_embed(job: Job, text: str) -> discord.Embed:
    """Build the embed that stands while a job is under way."""
    title = clip(plain(f"{job.leaderboard} on {job.gpu}"), TITLE_LIMIT)
    return discord.Embed(title=title, description=text, colour=WAITING)


def open_files(uploads: tuple[Upload, ...]) -> list[discord.File]:
    """Open files for one attempt to send; a second attempt needs them anew. Blocks on the disk."""
    return [
        discord.File(upload.path, filename=upload.name, description=upload.alt or None)
        for upload in uploads
    ]
