"""Regular expressions of an evaluator, matched without Python's own engine.

They come from a problem repository, and `re` may take years over one of them. This automaton
takes time proportional to the text, and refuses what it does not know.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

MAX_PATTERN = 500
MAX_STATES = 4_000
MAX_REPEAT = 200
MAX_NESTED = 30
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "s": str.isspace,
    "w": lambda character: character.isalnum() or character == "_",
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
Test = Callable[[str], bool]


class NotKnown(ValueError):  # noqa: N818 - it says what the expression is
    """The expression uses what this matcher does not know, or is no expression."""


@dataclass(slots=True)
class _State:
    """`test` leads to `then` over one character; without it every `then` is free."""

    test: Test | None = None
    then: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled expression; `groups` counts its capturing groups."""

    states: list[_State]
    start: int
    end: int
    groups: int

    def fullmatch(self, text: str) -> bool:
        """Whether the expression takes the whole text."""
        now = self._free({self.start})
        for character in text:
            over: set[int] = set()
            for place in now:
                state = self.states[place]
                if state.test is not None and state.test(character):
                    over.update(state.then)
            now = self._free(over)
        return self.end in now

    def _free(self, places: set[int]) -> set[int]:
        found, waiting = set(places), list(places)
        while waiting:
            state = self.states[waiting.pop()]
            if state.test is None:
                new = set(state.then) - found
                found |= new
                waiting.extend(new)
        return found


def compile_pattern(text: str) -> Pattern:
    """Read an expression. Raises NotKnown."""
    if len(text) > MAX_PATTERN:
        raise NotKnown("too long")
    reader = _Reader(text)
    start, end = reader.alternatives()
    if reader.place < len(text):
        raise NotKnown("unbalanced")
    return Pattern(reader.states, start, end, reader.groups)


class _Reader:
    """Builds states while it reads; a fragment is the pair of its first and last state."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.groups = 0
        self.nested = 0
        self.states: list[_State] = []

    def state(self, test: Test | None = None) -> int:
        if len(self.states) >= MAX_STATES:
            raise NotKnown("too large")
        self.states.append(_State(test))
        return len(self.states) - 1

    def ahead(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        character = self.ahead()
        if not character:
            raise NotKnown("it ends too early")
        self.place += 1
        return character

    def skip(self, text: str) -> bool:
        if not self.text.startswith(text, self.place):
            return False
        self.place += len(text)
        return True

    def alternatives(self) -> tuple[int, int]:
        start, end = self.state(), self.state()
        while True:
            first, last = self.sequence()
            self.states[start].then.append(first)
            self.states[last].then.append(end)
            if not self.skip("|"):
                return start, end

    def sequence(self) -> tuple[int, int]:
        start = last = self.state()
        while self.ahead() and self.ahead() not in "|)":
            before = self.place
            first, end = self.atom()
            low, high = self.times()
            after = self.place
            if (low, high) != (1, 1):
                first, end = self.repeated(before, low, high)
                self.place = after
            self.states[last].then.append(first)
            last = end
        return start, last

    def repeated(self, source: int, low: int, high: int | None) -> tuple[int, int]:
        """Read an atom anew for each of its turns; the last turn of an open end loops."""
        groups, start = self.groups, self.state()
        last, end = start, self.state()
        for turn in range(high if high is not None else max(low, 1)):
            self.place = source
            first, over = self.atom()
            self.states[last].then.append(first)
            if turn >= low:
                self.states[last].then.append(end)
            if high is None and turn == max(low, 1) - 1:
                self.states[over].then.append(first)
            last = over
        self.states[last].then.append(end)
        self.groups = groups
        return start, end

    def times(self) -> tuple[int, int | None]:
        low: int
        high: int | None
        if self.skip("*"):
            low, high = 0, None
        elif self.skip("+"):
            low, high = 1, None
        elif self.skip("?"):
            low, high = 0, 1
        elif self.ahead() == "{":
            low, high = self.braces()
        else:
            return 1, 1
        self.skip("?")
        if self.ahead() and self.ahead() in "*+{":
            raise NotKnown("a repeated repetition")
        return low, high

    def braces(self) -> tuple[int, int | None]:
        inner, closed, _ = self.text[self.place + 1 :].partition("}")
        low, comma, high = inner.partition(",")
        if not closed or not low.isdecimal() or (high and not high.isdecimal()):
            raise NotKnown("braces")
        self.place += len(inner) + 2
        numbers = int(low), int(high) if high else None if comma else int(low)
        if max(numbers[0], numbers[1] or 0) > MAX_REPEAT:
            raise NotKnown("repeated too often")
        return numbers

    def atom(self) -> tuple[int, int]:
        character = self.take()
        if character == "(":
            return self.group()
        if character in "^$":
            return self.single(None)
        if character in "*+?":
            raise NotKnown("nothing to repeat")
        if character == ".":
            return self.single(lambda given: given != "\n")
        if character == "[":
            return self.single(self.set())
        return self.single(self.escape() if character == "\\" else _same(character))

    def single(self, test: Test | None) -> tuple[int, int]:
        start, end = self.state(test), self.state()
        self.states[start].then.append(end)
        return start, end

    def group(self) -> tuple[int, int]:
        if self.skip("?P<"):
            while self.take() != ">":
                pass
            self.groups += 1
        elif not self.skip("?:"):
            if self.ahead() == "?":
                raise NotKnown("a group of a kind that is not known")
            self.groups += 1
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise NotKnown("nested too deeply")
        fragment = self.alternatives()
        self.nested -= 1
        if not self.skip(")"):
            raise NotKnown("unbalanced")
        return fragment

    def escape(self) -> Test:
        character = self.take()
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else lambda given: not test(given)
        if character in _CONTROLS:
            return _same(_CONTROLS[character])
        if character.isalnum():
            raise NotKnown(f"\\{character}")
        return _same(character)

    def set(self) -> Test:
        negated = self.skip("^")
        tests = [self.member()]
        while not self.skip("]"):
            tests.append(self.member())
        return lambda given: any(test(given) for test in tests) is not negated

    def member(self) -> Test:
        first = self.take()
        if first == "\\":
            return self.escape()
        if self.ahead() == "-" and self.text[self.place + 1 : self.place + 2] not in {"]", ""}:
            self.take()
            last = self.take()
            if last == "\\":
                raise NotKnown("a range that ends in an escape")
            return lambda given: first <= given <= last
        return _same(first)


def _same(character: str) -> Test:
    return lambda given: given == character
