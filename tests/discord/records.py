"""What the small Discord knows, as frozen values, and the file that it survives kills in."""

from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

Json = dict[str, Any]


class Kind(IntEnum):
    """Discord's numbers for the kinds of channel that are here."""

    TEXT = 0
    DM = 1
    PRIVATE_THREAD = 12


class Channel(Struct, frozen=True, kw_only=True, tag="channel"):
    """A place of messages. `members`: who reads it; empty for the public text channel."""

    id: int
    kind: Kind
    name: str = ""
    parent: int | None = None
    members: tuple[int, ...] = ()


class Attached(Struct, frozen=True, kw_only=True):
    """A file of a message; its bytes lie under its id."""

    id: int
    name: str
    size: int
    description: str | None = None


class Message(Struct, frozen=True, kw_only=True, tag="message"):
    """A message in its latest state. `reader`: the one who sees it where it is ephemeral."""

    id: int
    channel: int
    author: int
    reader: int | None = None
    token: str | None = None
    nonce: str | int | None = None
    content: str = ""
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    files: tuple[Attached, ...] = ()
    loading: bool = False
    edits: int = 0
    created_at: float
    deleted: bool = False


class Interaction(Struct, frozen=True, kw_only=True, tag="interaction"):
    """Something that a user typed or clicked; `token` answers it while it lives.

    `created_at` may be earlier than `typed_at`, when it was in truth, so that a test need not wait.
    """

    id: int
    token: str
    user: int
    channel: int
    kind: int
    created_at: float
    typed_at: float
    acknowledged: bool = False
    ephemeral: bool = False
    original: int | None = None
    expired: bool = False
    answer: int | None = None
    """The type of the callback that answered."""


Record = Channel | Message | Interaction


class Journal:
    """A file of records, one a line; a later record replaces an earlier one of the same key."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)

    def read(self) -> tuple[Record, ...]:
        """Return all records in the order written; a line that a kill tore is left out."""
        lines = self._path.read_bytes().split(b"\n")
        return tuple(msgspec.json.decode(line, type=Record) for line in lines[:-1] if line)

    def add(self, record: Record) -> None:
        """Write a record; the system has it when this returns."""
        self._file.write(msgspec.json.encode(record) + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
