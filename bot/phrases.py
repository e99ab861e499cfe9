"""Pieces of sentences. Plain text; whoever sends it to Discord escapes it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

MAX_LISTED = 12
MAX_TEXT = 200
ALMOST_A_MINUTE = timedelta(seconds=59)


def short(text: str, limit: int = MAX_TEXT) -> str:
    """Put somebody else's text on one line and cut it."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence, at most MAX_LISTED of them."""
    every = [short(name, 100) for name in names]
    more = f" and {len(every) - MAX_LISTED} more" if len(every) > MAX_LISTED else ""
    return ", ".join(every[:MAX_LISTED]) + more


def at(moment: datetime) -> str:
    """Word a moment to come; whoever sends it to Discord shows it in Discord's own form."""
    return (moment + ALMOST_A_MINUTE).strftime("at %Y-%m-%d %H:%M UTC")
