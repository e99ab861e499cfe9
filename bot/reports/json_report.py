"""The report as JSON, in the form that scripts rely on."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from counters.columns import Coverage, Tally, cells_of
from counters.model import Kernel

# JSON leaves these as they are, and a terminal obeys them: DEL, C1 controls, direction marks.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_DELETE = b"\x7f"


class JsonReport:
    """One line of UTF-8 JSON: `kernels`, `degraded`, `missing_share`; piece by piece.

    Values are finite numbers in base units or null. What a terminal could obey is escaped.
    """

    def __init__(self, kernels: Iterable[Kernel]) -> None:
        self._kernels = kernels
        self._tally = Tally()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces, one a launch."""
        comma = b'{"kernels":['
        for kernel in self._kernels:
            self._tally.add(cells_of(kernel))
            yield comma + disarmed(kernel)
            comma = b","
        end = {"degraded": self.coverage.degraded, "missing_share": self.coverage.missing_share}
        yield (b"" if comma == b"," else comma) + b"]," + msgspec.json.encode(end)[1:]

    @property
    def coverage(self) -> Coverage:
        """Return how much was measured of what was written so far."""
        return self._tally.done()


def disarmed(value: object) -> bytes:
    """Encode `value`; a character that a terminal could obey is written as its escape."""
    encoded = msgspec.json.encode(value)
    if encoded.isascii() and _DELETE not in encoded:
        return encoded
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded.decode()).encode()
