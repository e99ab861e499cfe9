"""The calls by which a bot answers interactions: callback, the original message, follow-ups."""

import time
from typing import Any

from msgspec.structs import replace

from tests.discord import drafts, payloads
from tests.discord.drafts import Draft
from tests.discord.errors import Refused
from tests.discord.payloads import EPHEMERAL
from tests.discord.records import Interaction, Json, Message
from tests.discord.world import World

MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, COMPLETED, MODAL = 4, 5, 6, 7, 8, 9


def callback(world: World, path: dict[str, str], draft: Draft) -> Json | None:
    """Answer an interaction for the first time."""
    found = world.interactions.get(path["interaction_token"])
    if found is None or str(found.id) != path["interaction_id"] or found.expired:
        raise Refused(10062)
    if found.acknowledged:
        raise Refused(40060)
    if time.time() - found.typed_at > world.rules.answer_s:
        raise Refused(10062)
    body = draft.body or {}
    data: Json = body.get("data") or {}
    kind = int(body["type"])
    answered = replace(found, acknowledged=True, answer=kind, ephemeral=_is_private(data))
    message = _first(world, answered, kind, Draft(data, draft.files))
    if message is not None:
        answered = replace(answered, original=message.id)
    world.put(answered)
    return _told(world, answered, message, kind)


def _first(world: World, found: Interaction, kind: int, draft: Draft) -> Message | None:
    if kind == MESSAGE:
        return drafts.new(world, _blank(world, found, private=found.ephemeral), draft)
    if kind == DEFERRED:
        waiting = replace(_blank(world, found, private=found.ephemeral), loading=True)
        return world.put(waiting)
    if kind == UPDATE:
        return drafts.edited(world, world.message(found.original), draft)
    return None


def _told(world: World, found: Interaction, message: Message | None, kind: int) -> Json:
    told: Json = {"id": str(found.id), "type": found.kind}
    if message is None:
        return {"interaction": told}
    told |= {
        "response_message_id": str(message.id),
        "response_message_loading": message.loading,
        "response_message_ephemeral": message.reader is not None,
    }
    shown = payloads.message(message, world.url)
    resource = {"type": UPDATE if kind == UPDATE else MESSAGE, "message": shown}
    return {"interaction": told, "resource": resource}


def original(world: World, path: dict[str, str], _: Draft) -> Json:
    """Return the message that answers an interaction."""
    found = world.living(path["webhook_token"])
    return payloads.message(world.message(found.original), world.url)


def edit_original(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Change the message that answers an interaction."""
    found = world.living(path["webhook_token"])
    message = drafts.edited(world, world.message(found.original), draft)
    return payloads.message(message, world.url)


def delete_original(world: World, path: dict[str, str], _: Draft) -> None:
    """Remove the message that answers an interaction."""
    found = world.living(path["webhook_token"])
    world.put(replace(world.message(found.original), deleted=True))


def follow_up(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Send a further message; the first one goes into a message that still says "thinking"."""
    found = world.living(path["webhook_token"])
    waiting = world.messages.get(found.original or 0)
    if waiting is not None and waiting.loading and not waiting.deleted:
        return payloads.message(drafts.edited(world, waiting, draft), world.url)
    private = _is_private(draft.body or {})
    message = drafts.new(world, _blank(world, found, private=private), draft)
    return payloads.message(message, world.url)


def get_follow_up(world: World, path: dict[str, str], _: Draft) -> Json:
    """Return a further message."""
    return payloads.message(_own(world, path), world.url)


def edit_follow_up(world: World, path: dict[str, str], draft: Draft) -> Json:
    """Change a further message."""
    return payloads.message(drafts.edited(world, _own(world, path), draft), world.url)


def delete_follow_up(world: World, path: dict[str, str], _: Draft) -> None:
    """Remove a further message."""
    world.put(replace(_own(world, path), deleted=True))


def _own(world: World, path: dict[str, str]) -> Message:
    found = world.living(path["webhook_token"])
    message = world.message(int(path["message_id"]))
    if message.token != found.token:
        raise Refused(10008)
    return message


def _blank(world: World, found: Interaction, *, private: bool) -> Message:
    reader = found.user if private else None
    return drafts.blank(world, found.channel, reader=reader, token=found.token)


def _is_private(data: dict[str, Any]) -> bool:
    return bool(int(data.get("flags") or 0) & EPHEMERAL)
