"""Kernel names: the part that a person recognises, and text that is safe to print."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"operator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|<=?|>=?)"
    r"|`[^`']*'|->|::|[<>()\[\]{}]|\s+|[^\s<>()\[\]{}:`\-]+|[:`\-]"
)
_CLOSER_OF = {"<": ">", "(": ")", "[": "]", "{": "}"}
_LONGEST_USUAL = 4_096
_OPENER_OF = {closer: opener for opener, closer in _CLOSER_OF.items()}


@dataclass(frozen=True, slots=True)
class _Item:
    """A token outside of brackets, or a whole bracketed group (`opens` is its bracket)."""

    text: str
    opens: str = ""


class _Brackets:
    """Open brackets so far. ncu's lambda text lacks some, so a stray closer is passed over."""

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._counts: Counter[str] = Counter()

    def open(self, bracket: str) -> None:
        self._stack.append(bracket)
        self._counts[bracket] += 1

    def close(self, bracket: str) -> None:
        opener = _OPENER_OF[bracket]
        if not self._counts[opener] or (opener == "<" and self._stack[-1] != "<"):
            return
        while self._pop() != opener:
            pass

    def _pop(self) -> str:
        bracket = self._stack.pop()
        self._counts[bracket] -= 1
        return bracket

    def __bool__(self) -> bool:
        return bool(self._stack)


def _items(name: str) -> Iterator[_Item]:
    brackets, start = _Brackets(), 0
    for match in _TOKEN.finditer(name):
        token, outside = match[0], not brackets
        if token in _CLOSER_OF:
            start = match.start() if outside else start
            brackets.open(token)
        elif outside:
            yield _Item(token)
        elif token in _OPENER_OF:
            brackets.close(token)
            if not brackets:
                yield _Item(name[start : match.end()], name[start])
    if brackets:
        yield _Item(name[start:], name[start])


def short_name(name: str) -> str:
    """Return `name` without return type, parameters and template arguments; namespaces stay.

    Takes any text in linear time; what is no C++ signature comes back stripped of outer spaces.
    """
    return _usual_short_name(name) if len(name) <= _LONGEST_USUAL else _short_name(name)


def _short_name(name: str) -> str:
    items = list(_items(name))
    if not any(item.opens for item in items):
        return name.strip()
    return "".join(_words(items)).lstrip("*&") or name.strip()


# Launches of one kernel come by the thousand.
_usual_short_name = lru_cache(maxsize=256)(_short_name)


def _words(items: list[_Item]) -> list[str]:
    words: list[str] = []
    for index, item in enumerate(items):
        before_scope = _text_at(items, index + 1) == "::"
        if item.text.isspace():
            words = [] if _begins_name(items, index + 1) else words
        elif not item.opens or _is_component(words):
            words.append(item.text)
        elif item.opens == "(" and not before_scope:
            break
    return words


def _text_at(items: list[_Item], index: int) -> str:
    return items[index].text if index < len(items) else ""


def _begins_name(items: list[_Item], index: int) -> bool:
    """Whether the item after a space begins another word, not the arguments of the last one."""
    return (index < len(items) and not items[index].opens) or _text_at(items, index + 1) == "::"


def _is_component(words: list[str]) -> bool:
    """Whether a bracket here is a part of the name: <unnamed>, (anonymous namespace), [lambda]."""
    return not words or words[-1] in {"::", "decltype"}


def last_component(short: str) -> str:
    """Return `short` without namespaces; a lambda or an operator keeps the name it belongs to."""
    texts = [item.text for item in _items(short)]
    starts = [0, *(at + 1 for at, text in enumerate(texts) if text == "::")]
    named = (start for start in reversed(starts) if _is_name("".join(texts[start : start + 1])))
    return "".join(texts[next(named, 0) :])


def _is_name(text: str) -> bool:
    return text[:1] not in {"", ":", "`", *_CLOSER_OF} and not text.startswith("operator")


_COMBINING = {"Mn", "Me"}


def plain(text: str) -> str:
    """Return `text` on one line, without control, direction, invisible and combining characters."""
    seen = "".join(" " if c.isspace() else c for c in text if c.isspace() or c.isprintable())
    composed = unicodedata.normalize("NFC", seen)
    kept = (c for c in composed if unicodedata.category(c) not in _COMBINING)
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def escaped(text: str) -> str:
    r"""Return `text` with every character that a terminal could obey written as \x1b or \u202e."""
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def display_width(text: str) -> int:
    """Return how many columns of a terminal `text` takes; East Asian wide characters take two."""
    return len(text) + sum(unicodedata.east_asian_width(c) in {"W", "F"} for c in text)


def clipped(text: str, width: int) -> str:
    """Return `text` in at most `width` (at least 1) columns, its middle replaced by an ellipsis."""
    if display_width(text) <= width:
        return text
    head = _taken(text, width // 2)
    tail = _taken(text[::-1], width - 1 - display_width(head))
    return f"{head}…{tail[::-1]}"


def _taken(text: str, width: int) -> str:
    taken = text[:width]
    while display_width(taken) > width:
        taken = taken[:-1]
    return taken
