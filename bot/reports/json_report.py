"""The report as JSON, in the form that scripts rely on."""

import re

import msgspec

from counters.model import KernelReport

# JSON leaves these as they are, and a terminal obeys them: DEL, C1 controls, direction marks.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def to_json(report: KernelReport) -> bytes:
    """Return one line of UTF-8 JSON: `kernels`, `degraded`, `missing_share`.

    Values are finite numbers in base units or null. What a terminal could obey is escaped.
    """
    return disarmed(
        {
            "kernels": report.kernels,
            "degraded": report.degraded,
            "missing_share": report.missing_share,
        }
    )


def disarmed(value: object) -> bytes:
    """Encode `value`; a character that a terminal could obey is written as its escape."""
    encoded = msgspec.json.encode(value).decode()
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded).encode()
