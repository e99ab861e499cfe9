"""The check itself: it lets through what Discord takes and names what it would refuse."""

from pathlib import Path
from typing import Any

import pytest
from simcord.types import HttpLogEntry

from tests.openapi.description import Description, check, description

EDIT = "/webhooks/1/token/messages/@original"
FOLLOW_UP = "/webhooks/1/token"
SILENT: dict[str, Any] = {"allowed_mentions": {"parse": []}}
MENU = {"type": 3, "custom_id": "a", "options": [{"label": "a", "value": "a"}]}


@pytest.fixture(scope="module")
def discord(shared: Path) -> Description:
    return description(shared / "discord" / "openapi.json")


def request(method: str, path: str, body: object) -> HttpLogEntry:
    return HttpLogEntry(method, path, {}, body, None)


def rows(*components: dict[str, Any]) -> dict[str, Any]:
    return {"components": [{"type": 1, "components": list(components)}]}


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x" * 2_000, **SILENT},
        {"content": None, "embeds": [{"title": "t", "description": "x" * 4_096}]},
        rows(MENU),
        {"attachments": [{"id": "0", "filename": "a.png", "description": "x" * 1_024}]},
    ],
)
def test_what_discord_takes_is_let_through(discord: Description, body: object) -> None:
    assert discord.faults(request("PATCH", EDIT, body)) == []
    assert discord.faults(request("POST", FOLLOW_UP, body)) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"content": "x" * 2_001, **SILENT}, "$.content"),
        ({"content": "hello @everyone"}, "allowed_mentions"),
        ({"contents": "x"}, "'contents' was unexpected"),
        ({"embeds": [{}] * 11}, "is too long"),
        ({"embeds": [{"description": "x" * 4_000}] * 2}, "embeds: 8000 characters"),
        ({"embeds": [{"fields": [{"name": "n", "value": "x" * 1_025}]}]}, "fields[0].value"),
        ({"embeds": [{"fields": [{"name": "n", "value": "v"}] * 26}]}, "fields"),
        (rows({**MENU, "options": [{"label": "a", "value": "a"}] * 26}), "options"),
        (rows({**MENU, "options": [{"label": "x" * 101, "value": "a"}]}), "options[0].label"),
        (rows({**MENU, "custom_id": "x" * 101}), "custom_id"),
        ({"attachments": [{"id": "0"}] * 11}, "attachments"),
    ],
)
def test_what_discord_would_refuse_is_named(discord: Description, body: object, fault: str) -> None:
    (found, *_) = discord.faults(request("PATCH", EDIT, body))
    assert fault in found


def test_an_endpoint_that_does_not_exist_is_named(discord: Description) -> None:
    assert discord.faults(request("POST", "/no/such/place", None)) == [
        "POST /no/such/place: no such endpoint"
    ]
    assert "takes no body" in discord.faults(request("GET", "/users/@me", {}))[0]


def test_a_commands_description_has_its_limit(discord: Description) -> None:
    long = {"name": "n", "type": 1, "description": "x" * 101, "options": []}
    (found,) = discord.faults(request("PUT", "/applications/1/commands", [long]))
    assert "[0].description" in found


def test_check_fails_with_every_fault(shared: Path) -> None:
    bad = request("PATCH", EDIT, {"content": "x" * 2_001, **SILENT})
    with pytest.raises(AssertionError, match="content"):
        check([bad], shared / "discord" / "openapi.json")
