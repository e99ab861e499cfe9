"""Cuts a reply into messages that Discord takes: at most ten files each, numbered."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.reports.message import ReplyMessage

MOST_FILES = 10


def in_parts(messages: Sequence[ReplyMessage]) -> tuple[ReplyMessage, ...]:
    """Return the messages in order, each with its table before the rest of its files."""
    parts = [part for message in messages for part in _split(message)]
    if len(parts) == 1:
        return (parts[0],)
    return tuple(_numbered(part, number, len(parts)) for number, part in enumerate(parts, 1))


def _split(message: ReplyMessage) -> Iterator[ReplyMessage]:
    yield replace(message, files=message.files[:MOST_FILES])
    for start in range(MOST_FILES, len(message.files), MOST_FILES):
        yield ReplyMessage(
            title=message.title,
            tone=message.tone,
            description="More files.",
            files=message.files[start : start + MOST_FILES],
        )


def _numbered(part: ReplyMessage, number: int, count: int) -> ReplyMessage:
    place = f"part {number} of {count}"
    return replace(part, footer=f"{place} · {part.footer}" if part.footer else place)
