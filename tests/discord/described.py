"""Checks what the small Discord was asked, and what it answered, against the description."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
from jsonschema import Draft202012Validator
from simcord.types import HttpLogEntry

from tests.discord.calls import ROUTES, Call
from tests.discord.records import Json
from tests.discord.rest import Asked
from tests.openapi.description import description

EACH = 40
"""Requests of one call that are looked at; a crash test makes thousands."""
_ANSWERED_OTHERWISE = frozenset({Call.COMMANDS})
"""Calls whose answers hold too much of what the bot sent to be worth a second look."""


def faults(asked: Path, api: Path) -> list[str]:
    """Return what is wrong with the requests and answers of a small Discord, one line each."""
    return list(dict.fromkeys(_faults(asked, api)))


def _faults(asked: Path, api: Path) -> Iterator[str]:
    seen: Counter[tuple[Call, bool]] = Counter()
    for line in asked.read_bytes().splitlines():
        one = msgspec.json.decode(line, type=Asked)
        seen[one.call, one.answer is None] += 1
        if seen[one.call, one.answer is None] > EACH:
            continue
        method = ROUTES[one.call].method
        request = HttpLogEntry(method, one.path, {}, one.body, None)
        yield from description(api).faults(request)
        if one.answer is not None and one.call not in _ANSWERED_OTHERWISE:
            yield from _answer_faults(one, method, api)


def _answer_faults(one: Asked, method: str, api: Path) -> Iterator[str]:
    for error in _validator(api, one.call).iter_errors(one.answer):
        yield f"answer to {method} {one.path}: {error.json_path}: {error.message[:200]}"


@cache
def _validator(api: Path, call: Call) -> Draft202012Validator:
    root: Json = json.loads(api.read_text(encoding="utf-8"))
    path = ROUTES[call].path
    described = next(one for one in root["paths"] if _same(one, path))
    responses = root["paths"][described][ROUTES[call].method.lower()]["responses"]
    answer = next(body for status, body in responses.items() if status.startswith("2"))
    schema = answer["content"]["application/json"]["schema"]
    return Draft202012Validator({"components": root["components"], **schema})


def _same(described: str, path: str) -> bool:
    """Whether two paths differ in the names of parameters at most."""
    pairs = zip(described.split("/"), path.split("/"), strict=False)
    return described.count("/") == path.count("/") and all(
        one == other or (one[:1] == "{" and other[:1] == "{") for one, other in pairs
    )
