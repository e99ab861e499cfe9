"""YAML as the problem files use it: safe, no duplicate keys, no aliases, dates left as text.

The tree is built from PyYAML's events, so that every value keeps its line and nothing is built of a
file that is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

MAX_BYTES = 1_000_000
MAX_DEPTH = 30
MAX_VALUES = 100_000
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where PyYAML was built with it; about ten times as fast."""

Place = tuple[str | int, ...]
"""Keys and indices from the top of a document to a value."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file's value; `lines` has the line of each value, of a mapping's that of its key."""

    value: object
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """Return the line of a value, or of the innermost one around it that exists."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def at(self, place: Place) -> object:
        """Return the value at `place`, which must exist."""
        value = self.value
        for key in place:
            value = value[int(key)] if isinstance(value, list) else _member(value, key)
        return value


def _member(value: object, key: str | int) -> object:
    return value.get(key) if isinstance(value, dict) else None


def read_yaml(file: Path) -> Document:
    """Return the document of `file`. Raises ValueError with the line and the reason, or OSError."""
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES:,} bytes")
    return parse_yaml(file.read_text(encoding="utf-8"))


def parse_yaml(text: str) -> Document:
    """Return the document of a text. Raises ValueError with the line and the reason."""
    try:
        return _Composer(yaml.parse(text, Loader=LOADER)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{line}{error.problem or 'not YAML'}") from None
    except yaml.reader.ReaderError as error:
        line = f"line {text.count(chr(10), 0, error.position) + 1}"
        raise ValueError(f"{line}: {error.reason}") from None


class _Composer:
    """Events to values; the depth is bounded before anything is built."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._lines: dict[Place, int] = {}

    def document(self) -> Document:
        next(self._events)
        value = None
        if isinstance(next(self._events), yaml.DocumentStartEvent):
            value = self._value(next(self._events), ())
            next(self._events)
            after = next(self._events)
            if isinstance(after, yaml.DocumentStartEvent):
                raise _refusal(after, "a second document is not read")
        return Document(value, self._lines)

    def _value(self, event: yaml.Event, place: Place) -> object:
        if len(place) > MAX_DEPTH:
            raise _refusal(event, "nested too deeply")
        if len(self._lines) >= MAX_VALUES:
            raise _refusal(event, f"more than {MAX_VALUES:,} values")
        if isinstance(event, yaml.AliasEvent):
            raise _refusal(event, "aliases are not read")
        if getattr(event, "tag", None) not in {None, "!"}:
            raise _refusal(event, "tags are not read")
        self._lines.setdefault(place, _line(event))
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(place)
        return self._mapping(place)

    def _sequence(self, place: Place) -> list[object]:
        values: list[object] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            values.append(self._value(event, (*place, len(values))))
        return values

    def _mapping(self, place: Place) -> dict[str, object]:
        values: dict[str, object] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, place)
            values[key] = self._value(next(self._events), (*place, key))
        return values

    def _key(self, event: yaml.Event, place: Place) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise _refusal(event, "expected a text key")
        key = _text(event)
        first = self._lines.get((*place, key))
        if first is not None:
            raise _refusal(event, f"key `{key}` stands twice, first on line {first}")
        self._lines[*place, key] = _line(event)
        return key


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def _refusal(event: yaml.Event, problem: str) -> ValueError:
    return ValueError(f"line {_line(event)}: {problem}")


def _text(event: yaml.ScalarEvent) -> str:
    # Lone surrogates, written as escapes, can be neither encoded nor stored.
    if any("\ud800" <= character <= "\udfff" for character in event.value):
        raise _refusal(event, "not Unicode text")
    return str(event.value)


_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_KINDS = {
    "tag:yaml.org,2002:null": _CONSTRUCTOR.construct_yaml_null,
    "tag:yaml.org,2002:bool": _CONSTRUCTOR.construct_yaml_bool,
    "tag:yaml.org,2002:int": _CONSTRUCTOR.construct_yaml_int,
    "tag:yaml.org,2002:float": _CONSTRUCTOR.construct_yaml_float,
}
"""What an unquoted word may be besides text. Dates are not among them: quoted or not is one."""


def _scalar(event: yaml.ScalarEvent) -> object:
    text = _text(event)
    if not event.implicit[0]:
        return text
    tag = str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]
    if tag not in _KINDS:
        return text
    try:
        return _KINDS[tag](yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):
        raise _refusal(event, "expected a number that can be read") from None
