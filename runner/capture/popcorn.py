"""The evaluator's log: `key: value` lines on POPCORN_FD, read while the program runs."""

from runner.text import clean

MAX_KEYS = 500
MAX_KEY = 1_000
MAX_VALUE = 8_000
MAX_TOTAL = 65_536
MAX_LINE = 65_536


class PopcornLog:
    """Lines split at the first colon, both sides trimmed, the last write of a key wins.

    Bounded in every direction: what does not fit is dropped, but `check` always fits.
    """

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._size = 0
        self._line = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the pipe."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            self._end_line()
        self._grow(rest)

    def values(self) -> dict[str, str]:
        """Return the log so far; a last line without line feed counts too."""
        self._end_line()
        return dict(self._values)

    def _grow(self, part: bytes) -> None:
        if len(self._line) < MAX_LINE:
            self._line += part[: MAX_LINE - len(self._line)]

    def _end_line(self) -> None:
        key, colon, value = clean(self._line.decode(errors="replace")).partition(":")
        self._line.clear()
        if colon and key.strip():
            self._set(key.strip()[:MAX_KEY], value.strip()[:MAX_VALUE])

    def _set(self, key: str, value: str) -> None:
        grown = self._size + len(key) + len(value)
        if key != "check" and (grown > MAX_TOTAL or len(self._values) >= MAX_KEYS):
            return
        self._size = grown
        self._values[key] = value


def parse_log(data: bytes) -> dict[str, str]:
    """Read a whole log at once."""
    log = PopcornLog()
    log.feed(data)
    return log.values()
