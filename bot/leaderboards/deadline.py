"""Deadlines as competition YAMLs write them."""

import re
from datetime import UTC, datetime, timedelta, timezone

_DEADLINE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:(?:T|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?)?"
    r"(?:\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2}))?",
    re.ASCII,
)
EXPECTED = "expected a deadline like 2026-09-30 or 2026-09-30 17:00, UTC unless a zone follows"


def parse_deadline(text: str | None) -> datetime | None:
    """Read a deadline; nothing and empty text are None.

    A date alone means its first minute, as the hosted service reads it; without a zone the time is
    UTC. Raises ValueError.
    """
    if text is None or not text.strip():
        return None
    match = _DEADLINE.fullmatch(text.strip())
    if match is None:
        raise ValueError(EXPECTED)
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    try:
        zone = _zone(match["zone"])
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(EXPECTED) from None


def _zone(text: str | None) -> timezone:
    if text is None or text in {"Z", "UTC"}:
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)
