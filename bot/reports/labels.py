"""Names short enough to read that still tell kernels apart."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
from os.path import commonprefix

from counters.names import clipped, display_width, last_component, plain, short_name

NAMELESS = "(no name)"

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_LONGEST_NAME = 4_096
_LONGEST = 400
_END = 150
_NARROWEST = 12
_DEEPEST = 8

Names = list[str]


def labels(kernels: Sequence[tuple[str, float | None]], width: int) -> tuple[str, ...]:
    """Return one label for each (name, registers), all different, none over `width` columns.

    A name alone where that is enough; then with its namespace, its template arguments, or what
    stands in its place in the other names; a number where nothing else tells two apart. `width` is
    at least 12.
    """
    variants = Counter(name for name, _ in dict.fromkeys(kernels))
    suffixes = [_registers(value) if variants[name] > 1 else "" for name, value in kernels]
    room = max(width - max(map(len, suffixes), default=0), min(width, _NARROWEST))
    unique = _labelled(list(variants), room)
    pairs = zip(kernels, suffixes, strict=True)
    return tuple(
        _numbered([clipped(unique[name] + last, width) for (name, _), last in pairs], width)
    )


def _registers(value: float | None) -> str:
    return " (n/a regs)" if value is None else f" ({value:.4g} regs)"


def _labelled(names: Names, room: int) -> dict[str, str]:
    kernels = [_Name.of(name) for name in names]
    found: dict[str, str] = {}
    for same in _alike(kernels, lambda kernel: kernel.base(room)):
        found |= _told_apart(same, room)
    return found


@dataclass(frozen=True, slots=True)
class _Name:
    """A kernel's name, and what it looks like when it is cut down."""

    whole: str
    short: str
    last: str

    @classmethod
    def of(cls, name: str) -> "_Name":
        short = short_name(name[:_LONGEST_NAME])
        return cls(name, plain(short) or NAMELESS, plain(last_component(short)) or NAMELESS)

    def base(self, room: int) -> str:
        return clipped(self.last, room)

    def with_arguments(self) -> str:
        start, end = self.whole.find(f"{self.last}<"), self.whole.rfind(">(")
        cut = self.whole[start : end + 1] if 0 <= start < end else self.whole
        return plain(_ends_of(cut))

    def pointed(self, different: str, room: int) -> str:
        """Return the base and, in at most half of the room, what is different."""
        shown = clipped(plain(_ends_of(different)), room // 2)
        if not shown:
            return self.base(room)
        return f"{self.base(room - display_width(shown) - 3)} …{shown}…"


def _alike(names: Iterable[_Name], form: Callable[[_Name], str]) -> list[list[_Name]]:
    found: defaultdict[str, list[_Name]] = defaultdict(list)
    for name in names:
        found[form(name)].append(name)
    return list(found.values())


def _told_apart(names: list[_Name], room: int) -> dict[str, str]:
    """Label names that have the same base."""
    if len(names) == 1:
        return {names[0].whole: names[0].base(room)}
    for form in (attrgetter("short"), _Name.with_arguments):
        made = _all_fitting(names, form, room)
        if len(set(made.values())) == len(names):
            return made
    return _by_difference(names, room, _DEEPEST)


def _all_fitting(names: list[_Name], form: Callable[[_Name], str], room: int) -> dict[str, str]:
    """Return what `form` makes of the names, or nothing where one does not fit."""
    made: dict[str, str] = {}
    for name in names:
        label = form(name)
        if display_width(label) > room:
            return {}
        made[name.whole] = label
    return made


def _by_difference(names: list[_Name], room: int, deeper: int) -> dict[str, str]:
    middles = _middles([name.whole for name in names])
    pairs = zip(names, middles, strict=True)
    made = {name.whole: name.pointed(middle, room) for name, middle in pairs}
    found = made.copy()
    for same in _alike(names, lambda name: made[name.whole]):
        # Among fewer names, other words are the first that differ.
        if 1 < len(same) < len(names) and deeper:
            found |= _by_difference(same, room, deeper - 1)
    return found


def _middles(names: Names) -> Names:
    """Return the names without the words that all of them begin or end with."""
    start = _shared_start(names)
    rests = [name[start:] for name in names]
    firsts = [match.end() if (match := _WORDS.match(rest)) else 0 for rest in rests]
    end = _shared_start([rest[first:][::-1] for rest, first in zip(rests, firsts, strict=True)])
    return [rest[: len(rest) - end] for rest in rests]


def _shared_start(texts: Names) -> int:
    """Return how many characters all texts begin with, to the end of a word."""
    shared = commonprefix(texts)  # noqa: RUF071 - these are no paths
    ends = {text[len(shared) : len(shared) + 1] for text in texts}
    for kind in (str.isspace, _is_of_word):
        if shared and kind(shared[-1]) and any(end and kind(end) for end in ends):
            while shared and kind(shared[-1]):
                shared = shared[:-1]
            break
    return len(shared)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _ends_of(text: str) -> str:
    """Return a text of which no more than its ends could be shown."""
    return text if len(text) <= _LONGEST else f"{text[:_END]}…{text[-_END:]}"


def _numbered(texts: Sequence[str], width: int) -> Iterator[str]:
    counts, taken = Counter(texts), set(texts)
    numbers = {text: count(1) for text in counts}
    for text in texts:
        label = text
        while counts[text] > 1 and label in taken:
            suffix = f" #{next(numbers[text])}"
            label = clipped(text, width - len(suffix)) + suffix
        taken.add(label)
        yield label
