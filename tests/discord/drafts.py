"""What a request wants of a message: read from JSON or multipart, checked, and carried out."""

import time
from dataclasses import dataclass, field

import msgspec
from aiohttp import BodyPartReader, web
from msgspec.structs import replace

from tests.discord.errors import Refused
from tests.discord.records import Attached, Json, Message
from tests.discord.world import BOT, World

CONTENT, EMBEDS, EMBEDS_TOTAL, FILES, COMPONENTS = 2_000, 10, 6_000, 10, 40
REQUEST_LIMIT = 256 << 20


@dataclass(frozen=True, slots=True)
class Draft:
    """The JSON of a request, and its files by their number; or the commands of a tree."""

    body: Json | None = None
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    commands: tuple[Json, ...] = ()


async def read(request: web.Request) -> Draft:
    """Read any request's body."""
    if request.content_type != "multipart/form-data":
        text = await request.read()
        read_json: Json | list[Json] | None = msgspec.json.decode(text) if text else None
        if isinstance(read_json, list):
            return Draft(commands=tuple(read_json))
        return Draft(read_json)
    body: Json = {}
    files: dict[str, tuple[str, bytes]] = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise Refused(50035, "nested multipart")
        await _part(part, body, files)
    return Draft(body, files)


async def _part(part: BodyPartReader, body: Json, files: dict[str, tuple[str, bytes]]) -> None:
    content = bytes(await part.read())
    name = part.name or ""
    if name == "payload_json":
        body.update(msgspec.json.decode(content))
    elif name.startswith("files[") and part.filename:
        files[name[6:-1]] = (part.filename, content)
    else:
        raise Refused(50035, f"part {name}")


def new(world: World, message: Message, draft: Draft) -> Message:
    """Make a message. Raises Refused."""
    nonce = (draft.body or {}).get("nonce")
    return world.put(replace(_filled(world, message, draft), nonce=nonce))


def edited(world: World, message: Message, draft: Draft) -> Message:
    """Change a message in the fields that the draft has. Raises Refused."""
    filled = _filled(world, message, draft)
    return world.put(replace(filled, loading=False, edits=message.edits + 1))


def blank(
    world: World, channel: int, *, reader: int | None = None, token: str | None = None
) -> Message:
    """Return a message of the bot without content, not kept yet."""
    return Message(
        id=world.snowflake(),
        channel=channel,
        author=BOT,
        reader=reader,
        token=token,
        created_at=time.time(),
    )


def _filled(world: World, message: Message, draft: Draft) -> Message:
    body = draft.body or {}
    _check(world, body, draft)
    filled = replace(
        message,
        content=body.get("content", message.content) or "",
        embeds=tuple(body.get("embeds", message.embeds) or ()),
        components=tuple(body.get("components", message.components) or ()),
        files=_kept(message, body),
    )
    count = len(filled.files) + len(draft.files)
    if not (filled.content or filled.embeds or filled.components or count):
        raise Refused(50006)
    if count > FILES:
        raise Refused(50035, "attachments")
    described = {str(one.get("id")): one.get("description") for one in _listed(body)}
    added = (
        world.attach(name, content, described.get(number))
        for number, (name, content) in draft.files.items()
    )
    return replace(filled, files=(*filled.files, *added))


def _listed(body: Json) -> list[Json]:
    return list(body.get("attachments") or ())


def _kept(message: Message, body: Json) -> tuple[Attached, ...]:
    """Keep the files that the list of attachments names, or all where there is no list."""
    if "attachments" not in body:
        return message.files
    named = {str(one.get("id")) for one in _listed(body)}
    return tuple(file for file in message.files if str(file.id) in named)


def _check(world: World, body: Json, draft: Draft) -> None:
    if any(len(content) > world.rules.file_limit for _, content in draft.files.values()):
        raise Refused(40005)
    if len(body.get("content") or "") > CONTENT:
        raise Refused(50035, "content")
    embeds = body.get("embeds") or ()
    if len(embeds) > EMBEDS or sum(map(_length, embeds)) > EMBEDS_TOTAL:
        raise Refused(50035, "embeds")
    if len(body.get("components") or ()) > COMPONENTS:
        raise Refused(50035, "components")


def _length(embed: Json) -> int:
    fields = (text for one in embed.get("fields", ()) for text in (one["name"], one["value"]))
    texts = (embed.get("title"), embed.get("description"), (embed.get("footer") or {}).get("text"))
    return sum(len(text or "") for text in (*texts, *fields))
