"""Discord's JSON for what the small Discord knows, with every field that must be there."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime

from tests.discord.records import Attached, Channel, Interaction, Json, Kind, Message
from tests.discord.world import APPLICATION, BOT, EPOCH_MS, GUILD, World

EPHEMERAL, LOADING = 1 << 6, 1 << 7
FOLLOWS_COMMAND, DEFAULT = 20, 0
SLASH, COMPONENT, COMPLETE, MODAL = 2, 3, 4, 5


def moment(seconds: float) -> str:
    """Return a moment as ISO 8601 text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def user(user_id: int) -> Json:
    """Return a user, or the bot."""
    is_bot = user_id == BOT
    return {
        "id": str(user_id),
        "username": "ncubot" if is_bot else f"user{user_id}",
        "discriminator": "0000" if is_bot else "0",
        "global_name": None,
        "avatar": None,
        "primary_guild": None,
        "bot": is_bot,
        "public_flags": 0,
        "flags": 0,
    }


def me() -> Json:
    """Return the bot as it sees itself."""
    return user(BOT) | {"mfa_enabled": True, "locale": "en-US"}


def member(user_id: int, permissions: int | None = None) -> Json:
    """Return a member of the server; `permissions` as interactions have it."""
    extra = {} if permissions is None else {"permissions": str(permissions)}
    return {
        "user": user(user_id),
        "roles": [],
        "joined_at": moment(0),
        "nick": None,
        "avatar": None,
        "banner": None,
        "premium_since": None,
        "communication_disabled_until": None,
        "pending": False,
        "deaf": False,
        "mute": False,
        "flags": 0,
        **extra,
    }


def channel(place: Channel) -> Json:
    """Return a channel of any kind."""
    body: Json = {"id": str(place.id), "type": int(place.kind), "flags": 0}
    if place.kind is Kind.DM:
        return body | {
            "recipients": [user(one) for one in place.members],
            "last_message_id": None,
        }
    body |= {"guild_id": str(GUILD), "name": place.name, "last_message_id": None}
    if place.kind is Kind.TEXT:
        return body | {
            "position": 0,
            "permission_overwrites": [],
            "nsfw": False,
            "topic": None,
            "parent_id": None,
            "rate_limit_per_user": 0,
        }
    return body | {
        "parent_id": str(place.parent),
        "owner_id": str(BOT),
        "message_count": 0,
        "member_count": len(place.members),
        "total_message_sent": 0,
        "rate_limit_per_user": 0,
        "thread_metadata": {
            "archived": False,
            "auto_archive_duration": 1_440,
            "archive_timestamp": moment(((place.id >> 22) + EPOCH_MS) / 1_000),
            "locked": False,
            "invitable": False,
        },
    }


def guild(world: World) -> Json:
    """Return the server as the gateway creates it."""
    return {
        "id": str(GUILD),
        "name": "GPU kernels",
        "owner_id": "1",
        "icon": None,
        "premium_tier": 0,
        "member_count": 2,
        "large": False,
        "joined_at": moment(0),
        "roles": [_everybody(world)],
        "channels": _all(world, Kind.TEXT),
        "threads": _all(world, Kind.PRIVATE_THREAD),
        "members": [member(BOT)],
        "emojis": [],
        "stickers": [],
        "features": [],
        "voice_states": [],
        "presences": [],
    }


def _all(world: World, kind: Kind) -> list[Json]:
    return [channel(place) for place in world.channels.values() if place.kind is kind]


def _everybody(world: World) -> Json:
    return {
        "id": str(GUILD),
        "name": "@everyone",
        "permissions": str(world.rules.permissions),
        "position": 0,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def application() -> Json:
    """Return the application of the bot."""
    return {
        "id": str(APPLICATION),
        "name": "ncubot",
        "icon": None,
        "description": "",
        "type": None,
        "verify_key": "0" * 64,
        "flags": 0,
        "flags_new": "0",
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "approximate_guild_count": 1,
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "eligible_oauth2_scopes": [],
        "bot_public": False,
        "bot_require_code_grant": False,
        "owner": user(1),
        "team": None,
    }


def attachment(file: Attached, url: str) -> Json:
    """Return a file of a message, to be fetched from `url`."""
    at = f"{url}/cdn/{file.id}/{file.name}"
    body: Json = {
        "id": str(file.id),
        "filename": file.name,
        "size": file.size,
        "url": at,
        "proxy_url": at,
    }
    return body | ({"description": file.description} if file.description else {})


def numbered(components: Iterable[Json]) -> list[Json]:
    """Give each component an id of its own, as Discord does."""
    numbers = itertools.count(1)

    def one(component: Json) -> Json:
        inner = component.get("components")
        more = {} if inner is None else {"components": [one(part) for part in inner]}
        return {**component, "id": next(numbers), **more}

    return [one(component) for component in components]


def message(sent: Message, url: str) -> Json:
    """Return a message."""
    flags = (EPHEMERAL if sent.reader is not None else 0) | (LOADING if sent.loading else 0)
    body: Json = {
        "id": str(sent.id),
        "channel_id": str(sent.channel),
        "type": FOLLOWS_COMMAND if sent.token else DEFAULT,
        "author": user(sent.author),
        "content": sent.content,
        "embeds": [{"type": "rich", **embed} for embed in sent.embeds],
        "components": numbered(sent.components),
        "attachments": [attachment(file, url) for file in sent.files],
        "timestamp": moment(sent.created_at),
        "edited_timestamp": moment(sent.created_at) if sent.edits else None,
        "flags": flags,
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "pinned": False,
        "tts": False,
    }
    if sent.token is None:
        return body
    return body | {"application_id": str(APPLICATION), "webhook_id": str(APPLICATION)}


def interaction(typed: Interaction, data: Json, world: World, on: Json | None) -> Json:
    """Return what the gateway says of something typed or clicked; `on` is the message clicked."""
    place = channel(world.channels[typed.channel])
    body: Json = {
        "id": str(typed.id),
        "application_id": str(APPLICATION),
        "type": typed.kind,
        "token": typed.token,
        "version": 1,
        "data": data,
        "channel_id": str(typed.channel),
        "channel": place,
        "app_permissions": str(world.rules.permissions),
        "attachment_size_limit": world.rules.file_limit,
        "entitlements": [],
        "authorizing_integration_owners": {"0": str(GUILD)},
        "context": 0,
        "locale": "en-US",
        **({"message": on} if on else {}),
    }
    if place["type"] == Kind.DM:
        return body | {"user": user(typed.user)}
    here = {"id": str(GUILD), "locale": "en-US", "features": []}
    asking = member(typed.user, world.rules.permissions)
    return body | {"guild_id": str(GUILD), "guild": here, "guild_locale": "en-US", "member": asking}
