"""The state of the small Discord: one server, its channels, and every message ever sent."""

import asyncio
import itertools
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import discord
from msgspec import Struct
from msgspec.structs import replace

from tests.discord.errors import Refused
from tests.discord.records import Attached, Channel, Interaction, Journal, Kind, Message, Record

R = TypeVar("R", Channel, Message, Interaction)
EPOCH_MS = 1_420_070_400_000
GUILD, APPLICATION, BOT = 7_000, 8_000, 8_000
"""The server, whose role of everybody has the same id; the application, and its user."""
TEXTS = range(9_000, 9_128)
"""The text channels, so that tests that run at once need not share one."""
ALLOWED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    attach_files=True,
    embed_links=True,
    read_message_history=True,
    create_private_threads=True,
    send_messages_in_threads=True,
)
MEGABYTE = 1 << 20


class Rules(Struct, frozen=True, kw_only=True):
    """What a test may change while everything runs. Seconds, bytes; users by id."""

    token_life_s: float = 900.0
    answer_s: float = 3.0
    file_limit: int = 10 * MEGABYTE
    closed: frozenset[int] = frozenset()
    """Users who take no direct messages."""
    permissions: int = ALLOWED.value
    """What the bot may in the text channels and their threads."""
    limited: bool = True
    """Whether rate limits are kept."""


class World:
    """Everything, kept in a folder; opening it again finds it as it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rules = Rules()
        self.channels: dict[int, Channel] = {}
        self.messages: dict[int, Message] = {}
        self.interactions: dict[str, Interaction] = {}
        self.changed = asyncio.Condition()
        self.version = 0
        self.url = ""
        self._ids = itertools.count()
        (folder / "files").mkdir(parents=True, exist_ok=True)
        self._journal = Journal(folder / "journal")
        for record in self._journal.read():
            self._take(record)
        for number in TEXTS:
            if number not in self.channels:
                self.put(Channel(id=number, kind=Kind.TEXT, name=f"profiling-{number}"))

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def snowflake(self, age_s: float = 0.0) -> int:
        """Return a new id whose moment is `age_s` seconds ago."""
        moment = int((time.time() - age_s) * 1_000) - EPOCH_MS
        return (moment << 22) | (next(self._ids) & 0x3FFFFF)

    def put(self, record: R) -> R:
        """Keep a record, on the disk first."""
        self._journal.add(record)
        self._take(record)
        return record

    def _take(self, record: Record) -> None:
        match record:
            case Channel():
                self.channels[record.id] = record
            case Message():
                self.messages[record.id] = record
            case Interaction():
                self.interactions[record.token] = record
        self.version += 1

    def channel(self, channel_id: int) -> Channel:
        """Return a channel. Raises Refused."""
        if channel_id not in self.channels:
            raise Refused(10003)
        return self.channels[channel_id]

    def message(self, message_id: int | None) -> Message:
        """Return a message that is there. Raises Refused."""
        found = self.messages.get(message_id or 0)
        if found is None or found.deleted:
            raise Refused(10008)
        return found

    def direct(self, user: int) -> Channel:
        """Return the channel of direct messages with a user, which may be new."""
        for channel in self.channels.values():
            if channel.kind is Kind.DM and channel.members == (user,):
                return channel
        return self.put(Channel(id=self.snowflake(), kind=Kind.DM, members=(user,)))

    def living(self, token: str) -> Interaction:
        """Return the interaction that a token answers. Raises Refused where its time is over."""
        found = self.interactions.get(token)
        if found is None or not found.acknowledged:
            raise Refused(10015)
        if found.expired or time.time() - found.created_at > self.rules.token_life_s:
            raise Refused(50027)
        return found

    def typed(
        self, user: int, channel: int, kind: int, age_s: float, original: int | None = None
    ) -> Interaction:
        """Make a new interaction, `age_s` seconds old."""
        return self.put(
            Interaction(
                id=self.snowflake(age_s),
                token=secrets.token_hex(40),
                user=user,
                channel=channel,
                kind=kind,
                created_at=time.time() - age_s,
                typed_at=time.time(),
                original=original,
            )
        )

    def expire(self, user: int) -> None:
        """Let every token of a user expire now."""
        for found in [one for one in self.interactions.values() if one.user == user]:
            self.put(replace(found, expired=True))

    def attach(self, name: str, content: bytes, description: str | None = None) -> Attached:
        """Keep a file."""
        file = Attached(id=self.snowflake(), name=name, size=len(content), description=description)
        self.path(file.id).write_bytes(content)
        return file

    def path(self, file_id: int) -> Path:
        """Return where a file's bytes are."""
        return self.folder / "files" / str(file_id)

    def in_channel(self, channel: int) -> Iterator[Message]:
        """Iterate over what is in a channel, newest first, without ephemeral messages."""
        for message in sorted(self.messages.values(), key=lambda one: -one.id):
            if message.channel == channel and message.reader is None and not message.deleted:
                yield message

    def seen_by(self, user: int) -> Iterator[tuple[Message, Channel]]:
        """Iterate over what a user sees, oldest first, with the place of each."""
        for message in sorted(self.messages.values(), key=lambda one: one.id):
            channel = self.channels[message.channel]
            public = channel.kind is Kind.TEXT and message.reader is None
            mine = message.reader == user or (message.reader is None and user in channel.members)
            if (public or mine) and not message.deleted:
                yield message, channel

    def allows(self, **wanted: bool) -> bool:
        """Return whether the bot has all these permissions in the server."""
        return discord.Permissions(self.rules.permissions).is_superset(
            discord.Permissions(**wanted)
        )

    async def wake(self) -> None:
        """Tell those who wait for a change."""
        self.version += 1
        async with self.changed:
            self.changed.notify_all()
