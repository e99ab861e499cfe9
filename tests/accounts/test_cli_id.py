"""What people paste where a popcorn-cli id is asked for."""

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.accounts.cli_id import MAX_PASTED, digest, exact, new_id, pasted

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def state(value: object) -> str:
    """Pack as the client does: base64url without padding."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        ID,
        f"  {ID.upper()}\n",
        f"cli_id: {ID}\n",
        f'{{"cli_id":"{ID}","is_reset":true}}',
        state({"cli_id": ID, "is_reset": False}),
        "https://discord.example/authorize?scope=identify&state="
        + state({"cli_id": ID, "is_reset": True}),
    ],
)
def test_the_id_is_found(text: str) -> None:
    assert pasted(text) == ID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        ID[:-1],
        ID.replace("-", ""),
        state({"cli_id": 5, "pad": "x" * 40}),
        state({"cli_id": "not an id at all, really not"}),
        state([ID[:8]] * 9),
        "A" * 41,
        "x" * MAX_PASTED + ID,
    ],
)
def test_what_holds_none(text: str) -> None:
    assert pasted(text) is None


@given(st.text() | st.from_regex(r"[A-Za-z0-9_-]{40,200}"))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    found = pasted(text)
    assert found is None or exact(found) == found


def test_a_header_must_have_the_exact_form() -> None:
    assert exact(ID.upper()) == ID
    assert exact(f"cli_id: {ID}") is None
    assert exact("٠" + ID[1:]) is None


def test_ids_are_new_and_stored_as_their_hash() -> None:
    first, second = new_id(), new_id()
    assert first != second
    assert exact(first) == first
    assert digest(first) == hashlib.sha256(first.encode()).hexdigest()
