"""The id by which a popcorn-cli names itself: how it is made, read and hashed."""

import base64
import binascii
import hashlib
import re
from datetime import timedelta
from uuid import uuid4

import msgspec

OFFER_LIFE = timedelta(minutes=10)
"""How long an id that was handed out waits for its owner."""
MAX_PASTED = 2_000
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STATE = re.compile(r"[A-Za-z0-9_-]{40,}")


class _State(msgspec.Struct, frozen=True):
    """What the client packs into the address that it opens."""

    cli_id: str


def new_id() -> str:
    """Make an id; whoever holds it speaks for the account that it is linked to."""
    return str(uuid4())


def digest(cli_id: str) -> str:
    """Return what is stored of an id: its SHA-256 in hex."""
    return hashlib.sha256(cli_id.encode()).hexdigest()


def exact(text: str) -> str | None:
    """Return the id that a request brings, None where it has another form."""
    lowered = text.strip().lower()
    return lowered if _ID.fullmatch(lowered) else None


def pasted(text: str) -> str | None:
    """Find the id in what somebody pasted: the id, its file, or the address with its state."""
    text = text[:MAX_PASTED]
    found = _ID.search(text.lower())
    if found is not None:
        return found[0]
    packed = (_unpacked(match[0]) for match in _STATE.finditer(text))
    return next((cli_id for cli_id in packed if cli_id is not None), None)


def _unpacked(state: str) -> str | None:
    try:
        packed = base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))
        return exact(msgspec.json.decode(packed, type=_State).cli_id)
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError):
        return None
