"""Discord's OpenAPI description as a check of requests: path, method and body."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from simcord.types import HttpLogEntry

Json = dict[str, Any]
EMBEDS_TOTAL = 6_000
# What discord.py always sends, although the description has it otherwise or not at all.
_FROM_DISCORD_PY: tuple[tuple[str, str, Json], ...] = (
    ("IncomingWebhookUpdateRequestPartial", "tts", {"const": False}),
    ("IncomingWebhookUpdateForInteractionCallbackRequestPartial", "tts", {"const": False}),
    ("MessageEditRequestPartial", "tts", {"const": False}),
    ("CreatePrivateChannelRequest", "recipient_id", {"type": ["integer", "string"]}),
    ("ApplicationCommandUpdateRequest", "nsfw", {"const": False}),
    ("RichEmbed", "flags", {"const": 0}),
    ("MessageAttachmentRequest", "id", {"type": ["integer", "string"]}),
)
_PARAMETER = re.compile(r"\{[^}]+\}")


class Description:
    """The endpoints of the description. Objects may hold described fields only."""

    def __init__(self, text: str) -> None:
        self._root = json.loads(text)
        schemas = self._root["components"]["schemas"]
        for name, field, schema in _FROM_DISCORD_PY:
            schemas[name]["properties"][field] = schema
        _close(schemas)
        paths = sorted(self._root["paths"], key=lambda path: path.count("{"))
        self._paths = [(re.compile(_pattern(path)), path) for path in paths]
        self._validators: dict[tuple[str, str], Validator | None] = {}
        self._taken: set[tuple[str, str, str]] = set()

    def faults(self, request: HttpLogEntry) -> list[str]:
        """Return what is wrong with a request, one line each; nothing is empty."""
        where = f"{request.method} {request.path}"
        path = next((path for form, path in self._paths if form.fullmatch(request.path)), None)
        if path is None or request.method.lower() not in self._root["paths"][path]:
            return [f"{where}: no such endpoint"]
        if request.json is None:
            return []
        # Most tests send the same messages, and to validate one takes longer than to send it.
        asked = (path, request.method, json.dumps(request.json, sort_keys=True, default=repr))
        found = [] if asked in self._taken else self._in_body(path, request)
        if not found:
            self._taken.add(asked)
        return [f"{where}: {fault}" for fault in found]

    def _in_body(self, path: str, request: HttpLogEntry) -> list[str]:
        validator = self._validator(path, request.method.lower())
        if validator is None:
            return ["takes no body"]
        return [*map(_told, validator.iter_errors(request.json)), *_beyond(request.json)]

    def _validator(self, path: str, method: str) -> Validator | None:
        if (path, method) not in self._validators:
            body = self._root["paths"][path][method].get("requestBody")
            self._validators[path, method] = self._made(body) if body else None
        return self._validators[path, method]

    def _made(self, body: Json) -> Validator:
        schema = body["content"]["application/json"]["schema"]
        return Draft202012Validator({"components": self._root["components"], **schema})


@cache
def description(path: Path) -> Description:
    """Read the description once."""
    return Description(path.read_text(encoding="utf-8"))


def check(requests: Iterable[HttpLogEntry], path: Path) -> None:
    """Fail on requests that Discord would refuse."""
    found = [fault for request in requests for fault in description(path).faults(request)]
    assert found == [], "\n".join(found)


def _pattern(path: str) -> str:
    return _PARAMETER.sub("[^/]+", re.sub(r"[.@]", r"\\\g<0>", path))


def _close(schema: object) -> None:
    """Forbid undescribed fields wherever an object's fields are listed."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            _close(part)
    elif isinstance(schema, list):
        for part in schema:
            _close(part)


def _told(error: ValidationError) -> str:
    """Word the error of that alternative which the value was meant to be."""
    while error.context:
        alternatives: dict[object, list[ValidationError]] = {}
        for one in error.context:
            alternatives.setdefault(one.schema_path[0], []).append(one)
        meant = [errors for errors in alternatives.values() if not any(map(_other_kind, errors))]
        error = min(meant or alternatives.values(), key=len)[0]
    return f"{error.json_path}: {error.message[:300]}"


def _other_kind(error: ValidationError) -> bool:
    return bool(error.path) and error.path[-1] == "type"


def _beyond(body: object) -> Iterator[str]:
    """Check what the description does not say: the embeds' total, and flags of mentions."""
    for message in _messages(body):
        total = sum(map(_length, message.get("embeds") or ()))
        if total > EMBEDS_TOTAL:
            yield f"embeds: {total} characters"
        mentions = message.get("allowed_mentions")
        if message.get("content") and mentions != {"parse": []}:
            yield f"allowed_mentions: {mentions}"


def _messages(body: object) -> Iterator[Json]:
    if isinstance(body, dict):
        data = body.get("data", body)
        if isinstance(data, dict) and {"content", "embeds"} & set(data):
            yield data


def _length(embed: Json) -> int:
    fields = (text for field in embed.get("fields", ()) for text in (field["name"], field["value"]))
    texts = [embed.get("title"), embed.get("description"), (embed.get("footer") or {}).get("text")]
    return sum(len(text or "") for text in (*texts, *fields))
