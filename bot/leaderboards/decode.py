"""From a YAML document to a typed value; what does not fit is said with its line and key."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from bot.leaderboards.yaml import Document, Place

T = TypeVar("T")
Keys = type[Struct]
_WHERE = re.compile(r" - at (?:`key` in )?`\$(?P<place>[^`]*)`$")
_STEP = re.compile(r"\.(?P<key>[A-Za-z_]\w*)|\[(?P<index>\d+)\]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_TYPES = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
_PATTERN = re.compile(r"matching regex .*", re.DOTALL)
_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}


def decode(document: Document, kind: type[T], place: Place = ()) -> T:
    """Convert the value at `place`. Raises ValueError, which names line, key and expectation."""
    try:
        return msgspec.convert(document.at(place), kind)
    except msgspec.ValidationError as error:
        raise _worded(document, str(error), place) from None


def fault(document: Document, place: Place, words: str) -> ValueError:
    """Return the error about the value at `place`."""
    key = f", `{shown(place)}`" if place else ""
    return ValueError(f"line {document.line(place)}{key}: {words}")


def choice(document: Document, place: Place, value: str, options: Iterable[str]) -> None:
    """Raise ValueError for a word that is none of `options`."""
    every = list(options)
    if value not in every:
        words = f"expected one of {', '.join(every)}, not `{value[:100]}`"
        raise fault(document, place, f"{words}{meant(value, every)}")


def unknown_keys(document: Document, kind: Keys, place: Place = ()) -> Iterator[str]:
    """Say of each key of the mapping at `place` that `kind` does not know that it is ignored."""
    known = kind.__struct_fields__
    for key in _unknown(document, kind, place):
        line = document.line((*place, key))
        yield f"line {line}: unknown key `{key[:100]}` is ignored{meant(key, known)}"


def meant(word: str, known: Iterable[str]) -> str:
    """Guess which known word a wrong one was to be; empty where none is near."""
    found = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.7)
    return f"; did you mean `{found[0]}`?" if found else ""


def shown(place: Place) -> str:
    """Write a place as people do: `files[1].name`."""
    parts = (f"[{key}]" if isinstance(key, int) else f".{key[:100]}" for key in place)
    return "".join(parts).removeprefix(".")


def _unknown(document: Document, kind: Keys, place: Place) -> list[str]:
    value = document.at(place)
    keys = value if isinstance(value, dict) else {}
    return [key for key in keys if key not in kind.__struct_fields__]


def _worded(document: Document, message: str, place: Place) -> ValueError:
    where = _WHERE.search(message)
    inner = (*place, *_steps(where["place"])) if where else place
    words = _WHERE.sub("", message)
    missing = _MISSING.fullmatch(words)
    if missing:
        return fault(document, inner, _missing(document, missing[1], inner))
    words = _PATTERN.sub("of letters, digits, `.`, `_` and `-`, no path", words)
    words = _TYPES.sub(lambda match: _kinds(match[1]), words)
    return fault(document, inner, words[:1].lower() + words[1:])


def _steps(text: str) -> Iterator[str | int]:
    for match in _STEP.finditer(text):
        yield match["key"] if match["key"] is not None else int(match["index"])


def _kinds(types: str) -> str:
    return " or ".join(_WORDS.get(word, word) for word in types.split(" | "))


def _missing(document: Document, key: str, place: Place) -> str:
    value = document.at(place)
    keys = list(value) if isinstance(value, dict) else []
    found = difflib.get_close_matches(key, keys, n=1, cutoff=0.7)
    if not found:
        return f"`{key}` is missing"
    line = document.line((*place, found[0]))
    return f"`{key}` is missing; was `{found[0]}` on line {line} meant?"
