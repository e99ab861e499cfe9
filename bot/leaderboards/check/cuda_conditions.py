"""Whether a condition of a CUDA evaluator holds in `profile` mode under ncu."""

import re
from dataclasses import dataclass, field

from bot.leaderboards.check.cuda_tokens import Sort, Token, closing, parts
from bot.leaderboards.check.libraries import MODE, OTHER_MODES

_COMPARERS = {"strcmp", "strncmp", "strcasecmp", "compare"}
_WORD = re.compile(r"k?_?(?:mode_?)?(profile|test|benchmark|leaderboard)(?:_?mode)?", re.IGNORECASE)
_NULLS = {"nullptr", "NULL", "0"}


@dataclass(slots=True)
class Conditions:
    """What names are known to stand for: texts, POPCORN_NCU's value, truth values.

    `asked` and `presence` are the places where the mode was compared, and where POPCORN_NCU was
    tested for being there only; `compared` says that its value was looked at somewhere.
    """

    texts: dict[str, str]
    ncu: set[str] = field(default_factory=set)
    known: dict[str, bool] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    presence: list[tuple[str, int]] = field(default_factory=list)
    compared: bool = False
    file: str = ""

    def holds(self, tokens: list[Token]) -> bool | None:
        """Whether a condition holds, None where it cannot be told."""
        alternatives = list(parts(tokens, "||"))
        if len(alternatives) > 1:
            return _any([self.holds(part) for part in alternatives])
        factors = list(parts(tokens, "&&"))
        if len(factors) > 1:
            held = _any([_not(self.holds(part)) for part in factors])
            return _not(held)
        if not tokens:
            return None
        if tokens[0].text == "(" and closing(tokens, 0) == len(tokens) - 1:
            return self.holds(tokens[1:-1])
        if tokens[0].text == "!" and tokens[0].sort is Sort.MARK and not _compares(tokens):
            return _not(self.holds(tokens[1:]))
        return self._single(tokens)

    def _single(self, tokens: list[Token]) -> bool | None:
        if len(tokens) == 1 and tokens[0].text in self.known:
            return self.known[tokens[0].text]
        if self.is_ncu(tokens):
            return self._ncu(tokens)
        word = self._mode_word(tokens)
        if word is None:
            return None
        self.asked.append((self.file, tokens[0].line))
        return _equality(tokens, equal=word == MODE)

    def mode_of(self, label: list[Token]) -> str | None:
        """Return which mode the label of a switch means, None where it is none."""
        word = _enumerator(label)
        if word is not None:
            self.asked.append((self.file, label[0].line))
        return word

    def is_ncu(self, tokens: list[Token]) -> bool:
        """Whether POPCORN_NCU's value stands among the tokens."""
        return any(
            token.text in self.ncu if token.sort is Sort.NAME else token.text == "POPCORN_NCU"
            for token in tokens
        )

    def _ncu(self, tokens: list[Token]) -> bool | None:
        values = [
            token.text
            for token in tokens
            if token.sort is Sort.TEXT and token.text != "POPCORN_NCU"
        ]
        if values:
            self.compared = True
            return _equality(tokens, equal=values[-1] == "1")
        if any(token.text in {"atoi", "stoi", "strtol"} for token in tokens):
            self.compared = True
            return _equality(tokens, equal=True) if not _compares(tokens) else None
        self.presence.append((self.file, tokens[0].line))
        against_null = any(token.text in _NULLS for token in tokens)
        return _equality(tokens, equal=not against_null)

    def _mode_word(self, tokens: list[Token]) -> str | None:
        if not _compares(tokens):
            return None
        for token in tokens:
            text = self.texts.get(token.text) if token.sort is Sort.NAME else None
            if token.sort is Sort.TEXT:
                text = token.text
            if text == MODE or text in OTHER_MODES:
                return text
        return _enumerator(tokens)


def _enumerator(tokens: list[Token]) -> str | None:
    """`Mode::kProfile`, `MODE_PROFILE`: an enumeration's name for a mode."""
    for place, token in enumerate(tokens):
        found = _WORD.fullmatch(token.text) if token.sort is Sort.NAME else None
        qualified = place > 0 and tokens[place - 1].text == "::"
        if found and (qualified or token.text.isupper() or token.text.startswith("k")):
            return found[1].lower()
    return None


def _compares(tokens: list[Token]) -> bool:
    return any(
        token.text in {"==", "!="} if token.sort is Sort.MARK else token.text in _COMPARERS
        for token in tokens
    )


def _equality(tokens: list[Token], *, equal: bool) -> bool:
    """Turn "these are equal" into what the comparison gives; strcmp gives 0 for equal texts."""
    marks = [token.text for token in tokens if token.sort is Sort.MARK]
    held = equal
    if any(token.text in _COMPARERS for token in tokens):
        held = equal if "==" in marks else not equal
        return not held if marks and marks[0] == "!" else held
    return not held if "!=" in marks else held


def _any(held: list[bool | None]) -> bool | None:
    if True in held:
        return True
    return None if None in held else False


def _not(held: bool | None) -> bool | None:
    return None if held is None else not held
