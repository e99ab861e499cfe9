"""Decodes one process's table, whose bytes a submission could have written. Pure, and bounded."""

import math
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import unquote_to_bytes

from runner.census.model import Launcher, Triple
from runner.text import one_line

FORMAT = b"ncubot-census 1"
END = b"end"
MAX_BYTES = 32_000_000
MAX_NAMES = 8_192
MAX_ROWS = 49_152
MAX_NAME = 16_384
MAX_DEMANGLED = 4_000
_MAX_DIGITS = 19
_LAUNCHERS = (Launcher.RANGE, Launcher.OTHER)


class BadTable(Exception):  # noqa: N818 - named for what happened
    """The bytes are no whole table of the census library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Launches of one name, shape and kind of thread. Times in ns, `squares` in ns squared."""

    name: str
    demangled: str
    launcher: Launcher
    grid: Triple
    block: Triple
    launches: int
    total: int
    least: int
    most: int
    squares: float
    begun: int
    first: int
    last: int
    in_graphs: int


@dataclass(slots=True)
class Table:
    """What one process told. `range_ns` is how long it had the range open, in `openings`."""

    process: int = 0
    range_ns: int = 0
    openings: int = 0
    others_launches: int = 0
    others_ns: int = 0
    dropped: int = 0
    unfinished: int = 0
    rows: list[Row] = field(default_factory=list)


def decode(data: bytes, most_rows: int = MAX_ROWS) -> Table:
    """Return a table. Raises BadTable for anything but a whole one within the bounds."""
    if len(data) > MAX_BYTES:
        raise BadTable("too long")
    lines = data.split(b"\n", MAX_NAMES + most_rows + 8)
    if lines[0] != FORMAT or lines[-2:] != [END, b""]:
        raise BadTable("not whole")
    table, names = Table(), dict[int, tuple[str, str]]()
    for line in lines[1:-2]:
        _take(table, names, line.split(b" "))
        if len(table.rows) > most_rows:
            raise BadTable("too many kernels")
    return table


def _take(table: Table, names: dict[int, tuple[str, str]], words: list[bytes]) -> None:
    match words:
        case [b"process", pid]:
            table.process = _number(pid)
        case [b"range", open_ns, openings]:
            table.range_ns, table.openings = _number(open_ns), _number(openings)
        case [b"others", launches, total]:
            table.others_launches, table.others_ns = _number(launches), _number(total)
        case [b"lost", dropped, unfinished]:
            table.dropped, table.unfinished = _number(dropped), _number(unfinished)
        case [b"name", number, name, demangled] if len(names) < MAX_NAMES:
            names[_number(number)] = (_text(name, MAX_NAME), _text(demangled, MAX_DEMANGLED))
        case [b"kernel", name, launcher, *more]:
            table.rows.append(_row(names.get(_number(name)), _number(launcher), more))
        case _:
            raise BadTable("an unknown line")


def _row(name: tuple[str, str] | None, launcher: int, words: list[bytes]) -> Row:
    if name is None or launcher >= len(_LAUNCHERS) or len(words) != 15:
        raise BadTable("a kernel without its name, thread or figures")
    shape = [_number(word) for word in words[:6]]
    launches, total, least, most = (_number(word) for word in words[6:10])
    begun, first, last, in_graphs = (_number(word) for word in words[11:])
    if not launches or not least * launches <= total <= most * launches:
        raise BadTable("times that do not add up")
    if not 1 <= first <= last or last - first + 1 < launches or in_graphs > launches:
        raise BadTable("launches that do not add up")
    squares = _square(words[10])
    if squares > 1.01 * launches * most * most:
        raise BadTable("times that do not add up")
    return Row(
        name=name[0],
        demangled=name[1],
        launcher=_LAUNCHERS[launcher],
        grid=cast("Triple", tuple(shape[:3])),
        block=cast("Triple", tuple(shape[3:])),
        launches=launches,
        total=total,
        least=least,
        most=most,
        squares=squares,
        begun=begun,
        first=first,
        last=last,
        in_graphs=in_graphs,
    )


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > _MAX_DIGITS:
        raise BadTable("not a number")
    return int(word)


def _square(word: bytes) -> float:
    try:
        value = float(word[:40])
    except ValueError:
        raise BadTable("not a number") from None
    if not math.isfinite(value) or value < 0:
        raise BadTable("not a number")
    return value


def _text(word: bytes, limit: int) -> str:
    text = one_line(unquote_to_bytes(word).decode(errors="replace"), limit)
    if not text:
        raise BadTable("a kernel without a name")
    return text
