"""Bounded, printable text out of bytes that a submission wrote."""

import re

# Control characters but tab and line feed; they reach terminals, databases and Discord.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def clean(text: str) -> str:
    """Drop terminal colours and control characters; line ends become line feeds."""
    return _CONTROL.sub("", _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, limit: int = 1_000) -> str:
    """Fold `text` to one line of at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def size_words(size: int) -> str:
    """Return bytes as people read them: `2.0 GB`."""
    for unit, scale in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


def seconds_words(seconds: float) -> str:
    """Return a time limit as people read it: `480 s`."""
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:g} s"


class Tail:
    """The first and the last bytes of a stream of any length, `limit` bytes in all."""

    def __init__(self, limit: int = 65_536) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._end = bytearray()
        self._total = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._end += chunk[room:]
        if len(self._end) > 2 * self._half:
            del self._end[: -self._half]

    def text(self) -> str:
        """Return what was kept, with a line that says how much is left out between."""
        end = bytes(self._end[-self._half :])
        left_out = self._total - len(self._head) - len(end)
        gap = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return clean((bytes(self._head) + gap + end).decode(errors="replace"))
