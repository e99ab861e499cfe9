"""Discord's side of the ways to an author; works from stored values alone, after any restart."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Final, cast

import aiohttp
import discord

from bot.delivery.address import Address, WayName
from bot.delivery.ways import Part, TooLarge, Unclear, Way, WayClosed
from bot.jobs.model import Job
from bot.reports.illustrate import Illustration
from bot.reports.message import ReplyMessage
from bot.reports.neutral import clip, plain
from bot.reports.uploads import Upload
from cogs.cancelling import cancel_view
from cogs.embeds import illustration_embeds, open_files, progress_embed, reply_embed
from cogs.picking import picker_view

TOO_LARGE_STATUS = 413
TOO_LARGE_CODE = 40005
BUSY_STATUS = 429
UNKNOWN_STATUS = 500
MARGIN = 0.99
DIRECT_LIMIT = int(10 * 1024 * 1024 * MARGIN)
"""Bytes of a file in a direct message, which has no server whose limit would be higher."""
LOOKED_AT = 100
"""Latest messages among which an opened one is looked for."""
A_WEEK_MIN: Final = 10_080
ORIGINAL = 0
"""Stands for the interaction's own message, which is open from the start."""
_NOBODY = discord.AllowedMentions.none()


class _Original:
    """Discord's word for that message in its routes, where others have their id.

    No str: discord.py would quote its sign.
    """

    def __str__(self) -> str:
        return "@original"


_ORIGINAL = cast("int", _Original())


@contextmanager
def discord_answers(*, uploads: bool = False) -> Iterator[None]:
    """Turn what discord.py raises into what the courier understands.

    TooLarge comes of `uploads` only: where nothing can be left out, the way is closed.
    """
    try:
        yield
    except discord.HTTPException as error:
        if uploads and (error.status == TOO_LARGE_STATUS or error.code == TOO_LARGE_CODE):
            raise TooLarge from error
        if error.status == BUSY_STATUS or error.status >= UNKNOWN_STATUS:
            raise Unclear(str(error)) from error
        raise WayClosed(str(error)) from error
    except (discord.RateLimited, aiohttp.ClientError, OSError, TypeError) as error:
        # The text of some of these has the address in it, and that has the token. TypeError is
        # what discord.py makes of a 429 of the network before Discord, whose body is no JSON.
        raise Unclear(type(error).__name__) from None


@asynccontextmanager
async def opened(files: tuple[Upload, ...]) -> AsyncIterator[list[discord.File]]:
    """Open files for one attempt, and close them."""
    try:
        uploads = await asyncio.to_thread(open_files, files)
    except FileNotFoundError as error:
        raise WayClosed(f"{error.filename} is gone") from None
    try:
        yield uploads
    finally:
        for file in uploads:
            file.close()


class ReplyWay:
    """The messages of the interaction itself, private by its first answer."""

    name = WayName.REPLY

    def __init__(self, client: discord.Client, address: Address) -> None:
        self._client = client
        self._address = address
        self.limit = address.upload_limit

    async def open(self, part: Part) -> int:
        """Make a follow-up; the first part has the interaction's own message."""
        if part.is_first:
            return ORIGINAL
        with discord_answers():
            message = await self._hook().send(
                part.placeholder, ephemeral=True, wait=True, allowed_mentions=_NOBODY
            )
        return message.id

    async def find(self, part: Part) -> int | None:
        """Private follow-ups cannot be listed; the interaction's own message is always there."""
        return ORIGINAL if part.is_first else None

    async def fill(self, message_id: int, message: ReplyMessage) -> None:
        """Edit a message."""
        async with opened(message.files) as files:
            with discord_answers(uploads=True):
                await self._hook().edit_message(
                    message_id or _ORIGINAL,
                    content=message.table or None,
                    embed=reply_embed(message),
                    attachments=files,
                    view=picker_view(message.picker) if message.picker else None,
                    allowed_mentions=_NOBODY,
                )

    async def holds(self, message_id: int, message: ReplyMessage) -> bool:
        """Read the message back."""
        with discord_answers():
            found = await self._hook().fetch_message(message_id or _ORIGINAL)
        return _holds(found, message)

    async def add(self, pictures: tuple[Illustration, ...]) -> None:
        """Send one more follow-up."""
        async with opened(_files(pictures)) as files:
            with discord_answers(uploads=True):
                await self._hook().send(
                    embeds=_embeds(pictures),
                    files=files,
                    ephemeral=True,
                    wait=True,
                    allowed_mentions=_NOBODY,
                )

    async def show(self, job: Job, text: str, *, cancelling: bool) -> None:
        """Edit the interaction's own message to show progress."""
        with discord_answers():
            await self._hook().edit_message(
                _ORIGINAL,
                content=None,
                embed=progress_embed(job, text),
                view=cancel_view(job.id, pressed=cancelling),
                allowed_mentions=_NOBODY,
            )

    def _hook(self) -> discord.Webhook:
        token = self._address.live_token(datetime.now(UTC))
        if token is None:
            raise WayClosed("the interaction's token is too old")
        hook = discord.Webhook.partial(
            self._address.application_id, token.reveal(), client=self._client
        )
        hook.type = discord.WebhookType.application
        return hook


class ChannelWay:
    """Messages of the bot in a place that only the author reads."""

    name: WayName

    def __init__(self, client: discord.Client, job: Job, address: Address) -> None:
        self._client = client
        self._job = job
        self._address = address
        self._found: discord.abc.Messageable | None = None
        self.limit = address.upload_limit

    async def open(self, part: Part) -> int:
        """Send the placeholder. Discord knows a repetition by its nonce for some minutes."""
        place = await self._place()
        nonce = f"{part.job_id[:20]}-{part.number}"
        with discord_answers():
            message = await place.send(part.placeholder, nonce=nonce, allowed_mentions=_NOBODY)
        return message.id

    async def find(self, part: Part) -> int | None:
        """Look among the latest messages."""
        place = await self._place()
        with discord_answers():
            async for message in place.history(limit=LOOKED_AT):
                if message.content.startswith(part.mark):
                    return message.id
        return None

    async def fill(self, message_id: int, message: ReplyMessage) -> None:
        """Edit a message."""
        place = await self._place()
        async with opened(message.files) as files:
            with discord_answers(uploads=True):
                await _message(place, message_id).edit(
                    content=message.table or None,
                    embed=reply_embed(message),
                    attachments=files,
                    view=picker_view(message.picker) if message.picker else None,
                    allowed_mentions=_NOBODY,
                )

    async def holds(self, message_id: int, message: ReplyMessage) -> bool:
        """Read the message back."""
        place = await self._place()
        with discord_answers():
            found = await place.fetch_message(message_id)
        return _holds(found, message)

    async def add(self, pictures: tuple[Illustration, ...]) -> None:
        """Send one more message."""
        place = await self._place()
        async with opened(_files(pictures)) as files:
            with discord_answers(uploads=True):
                await place.send(embeds=_embeds(pictures), files=files, allowed_mentions=_NOBODY)

    async def _place(self) -> discord.abc.Messageable:
        if self._found is None:
            with discord_answers():
                self._found = await self._enter()
        return self._found

    @abstractmethod
    async def _enter(self) -> discord.abc.Messageable:
        """Find or make the place; doing it again gives the same one."""


class DirectWay(ChannelWay):
    """Direct messages."""

    name = WayName.DIRECT

    def __init__(self, client: discord.Client, job: Job, address: Address) -> None:
        super().__init__(client, job, address)
        self.limit = min(address.upload_limit, DIRECT_LIMIT)

    async def _enter(self) -> discord.abc.Messageable:
        return await self._client.create_dm(discord.Object(self._address.user_id))


class ThreadWay(ChannelWay):
    """A private thread of one job in the channel where the command was typed."""

    name = WayName.THREAD

    async def _enter(self) -> discord.abc.Messageable:
        channel = await self._channel()
        thread = await self._existing(channel) or await channel.create_thread(
            name=self._title(),
            type=discord.ChannelType.private_thread,
            invitable=False,
            auto_archive_duration=A_WEEK_MIN,
        )
        await thread.add_user(discord.Object(self._address.user_id))
        return thread

    async def _channel(self) -> discord.TextChannel:
        channel = await self._client.fetch_channel(self._address.channel_id or 0)
        if isinstance(channel, discord.Thread):
            channel = await self._client.fetch_channel(channel.parent_id)
        if not isinstance(channel, discord.TextChannel):
            raise WayClosed("private threads are for text channels")
        return channel

    async def _existing(self, channel: discord.TextChannel) -> discord.Thread | None:
        """Return the job's thread that an earlier try has made."""
        own = self._client.user
        for thread in await channel.guild.active_threads():
            ours = own is not None and thread.owner_id == own.id
            if ours and thread.parent_id == channel.id and self._job.id in thread.name:
                return thread
        return None

    def _title(self) -> str:
        return f"{clip(plain(self._job.leaderboard), 60)} · {self._job.id}"


class DiscordWays:
    """All ways of one client."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    def to(self, job: Job, address: Address) -> tuple[Way, ...]:
        """Return the ways to a job's author that may be open, in order."""
        ways: list[Way] = []
        if address.live_token(datetime.now(UTC)) is not None:
            ways.append(ReplyWay(self._client, address))
        ways.append(DirectWay(self._client, job, address))
        if address.guild_id is not None and address.channel_id is not None:
            ways.append(ThreadWay(self._client, job, address))
        return tuple(ways)

    async def show(self, job: Job, address: Address, text: str, *, cancelling: bool) -> None:
        """Show progress in the interaction's reply. Raises WayClosed and Unclear."""
        await ReplyWay(self._client, address).show(job, text, cancelling=cancelling)


def _message(place: discord.abc.Messageable, message_id: int) -> discord.PartialMessage:
    if isinstance(place, discord.DMChannel | discord.Thread):
        return place.get_partial_message(message_id)
    raise TypeError(type(place))


def _holds(found: discord.Message, message: ReplyMessage) -> bool:
    return any(
        embed.title == message.title and (embed.footer.text or "") == message.footer
        for embed in found.embeds
    )


def _files(pictures: tuple[Illustration, ...]) -> tuple[Upload, ...]:
    return tuple(file for one in pictures for file in one.files)


def _embeds(pictures: tuple[Illustration, ...]) -> list[discord.Embed]:
    return [embed for one in pictures for embed in illustration_embeds(one)]
