"""The calls about channels, messages in them, and who is there."""

import time
from itertools import islice

from msgspec.structs import replace

from tests.discord import drafts, payloads
from tests.discord.drafts import Draft
from tests.discord.errors import Refused
from tests.discord.records import Channel, Json, Kind, Message
from tests.discord.world import BOT, GUILD, World

THREAD_NAME, THREADS_OF = 100, Kind.TEXT
NONCE_S = 180.0
"""How long a nonce is remembered; Discord says "a few minutes"."""


def open_dm(world: World, _: dict[str, str], draft: Draft) -> Json:
    """Return the channel of direct messages; that a user takes none shows at the first message."""
    return payloads.channel(world.direct(int((draft.body or {})["recipient_id"])))


def send(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Send a message as the bot."""
    channel = _writable(world, path)
    if draft.files and channel.kind is not Kind.DM and not world.allows(attach_files=True):
        raise Refused(50013)
    known = _repeated(world, channel, draft)
    message = known or drafts.new(world, drafts.blank(world, channel.id), draft)
    return payloads.message(message, world.url)


def _repeated(world: World, channel: Channel, draft: Draft) -> Message | None:
    """Return the message that was sent with the same nonce a moment ago."""
    body = draft.body or {}
    nonce = body.get("nonce") if body.get("enforce_nonce") else None
    now = time.time()
    return next(
        (
            one
            for one in world.in_channel(channel.id)
            if nonce is not None and one.nonce == nonce and now - one.created_at < NONCE_S
        ),
        None,
    )


def listed(world: World, path: dict[str, str], _: Draft) -> list[Json]:
    """Return messages of a channel, newest first; `limit`, `before`, `after` are in `path`."""
    channel = world.channel(int(path["channel_id"]))
    if channel.kind is not Kind.DM and not world.allows(read_message_history=True):
        return []
    before, after = int(path.get("before", 1 << 63)), int(path.get("after", 0))
    found = (one for one in world.in_channel(channel.id) if after < one.id < before)
    return [payloads.message(one, world.url) for one in islice(found, int(path.get("limit", 50)))]


def get(world: World, path: dict[str, str], _: Draft) -> Json:
    """Return a message of a channel."""
    return payloads.message(_there(world, path), world.url)


def edit(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Change a message of the bot."""
    _writable(world, path)
    return payloads.message(drafts.edited(world, _mine(world, path), draft), world.url)


def delete(world: World, path: dict[str, str], _: Draft) -> None:
    """Remove a message of the bot."""
    world.put(replace(_mine(world, path), deleted=True))


def thread(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Open a private thread in a text channel."""
    parent, body = world.channel(int(path["channel_id"])), draft.body or {}
    if parent.kind is not THREADS_OF or body.get("type") != Kind.PRIVATE_THREAD:
        raise Refused(50035, "type")
    if not world.allows(create_private_threads=True, view_channel=True):
        raise Refused(50013)
    name = str(body["name"])
    if not 1 <= len(name) <= THREAD_NAME:
        raise Refused(50035, "name")
    opened = Channel(
        id=world.snowflake(), kind=Kind.PRIVATE_THREAD, name=name, parent=parent.id, members=(BOT,)
    )
    return payloads.channel(world.put(opened))


def threads(world: World, _: dict[str, str], __: Draft) -> Json:
    """Return the threads that are not archived, which here are all."""
    found = [one for one in world.channels.values() if one.kind is Kind.PRIVATE_THREAD]
    return {"threads": [payloads.channel(one) for one in found], "members": [], "has_more": False}


def add_member(world: World, path: dict[str, str], _: Draft) -> None:
    """Let a user read a private thread."""
    found = world.channel(int(path["channel_id"]))
    if not world.allows(send_messages_in_threads=True):
        raise Refused(50013)
    user = int(path["user_id"])
    if user not in found.members:
        world.put(replace(found, members=(*found.members, user)))


def channel(world: World, path: dict[str, str], _: Draft) -> Json:
    """Return a channel."""
    return payloads.channel(world.channel(int(path["channel_id"])))


def user(_: World, path: dict[str, str], __: Draft) -> Json:
    """Return a user."""
    return payloads.user(int(path["user_id"]))


def guild(world: World, _: dict[str, str], __: Draft) -> Json:
    """Return the server."""
    return payloads.guild(world)


def member(world: World, path: dict[str, str], _: Draft) -> Json:
    """Return a member of the server."""
    if path["guild_id"] != str(GUILD):
        raise Refused(10004)
    return payloads.member(int(path["user_id"]))


def _writable(world: World, path: dict[str, str]) -> Channel:
    """Return a channel that the bot may write in now. Raises Refused."""
    found = world.channel(int(path["channel_id"]))
    if found.kind is Kind.DM:
        if set(found.members) & world.rules.closed:
            raise Refused(50007)
        return found
    in_thread = found.kind is Kind.PRIVATE_THREAD
    if not world.allows(view_channel=True):
        raise Refused(50001)
    needed = {"send_messages_in_threads" if in_thread else "send_messages": True}
    if not world.allows(**needed):
        raise Refused(50013)
    return found


def _there(world: World, path: dict[str, str]) -> Message:
    message = world.message(int(path["message_id"]))
    if message.channel != int(path["channel_id"]) or message.reader is not None:
        raise Refused(10008)
    return message


def _mine(world: World, path: dict[str, str]) -> Message:
    message = _there(world, path)
    if message.author != BOT:
        raise Refused(50005)
    return message
