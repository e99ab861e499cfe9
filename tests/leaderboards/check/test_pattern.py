"""The matcher says what Python's own says, and takes time proportional to the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.leaderboards.check.pattern import NotKnown, compile_pattern

KNOWN = (
    r"\s*([a-zA-Z]+):\s*([a-zA-Z]+|[+-]?[0-9]+)\s*",
    r"\s*([a-zA-Z_]\w*)\s*:\s*([a-zA-Z_]\w*|[+-]?[0-9]+)\s*",
    r"\s*([a-zA-Z_]+)\s*:\s*(\[[^\]]*\]|\([^)]*\)|[a-zA-Z_]+|[+-]?[0-9]+)\s*",
    r"^(?P<key>[a-z]{1,3}): (?:x|yy){2,}$",
    r"(a|b)*c??d{2}",
    r"[^\d:]+:.+",
    r"\(\.\)[]x^-]",
)
TEXTS = (
    *("a: 1", " seed: 42 ", "kind: dense", "nomask: False", "m: [1, 2]", "x_1: 2", "x: 0.5", "x:"),
    *("ab: xyy", "abcdd", "cdd", "dd", "(.)]", "(.)-", "q: -7", "", "a: 1\n", "é: ä"),
)


@pytest.mark.parametrize("pattern", KNOWN)
def test_as_python_says(pattern: str) -> None:
    ours, python = compile_pattern(pattern), re.compile(pattern)
    assert ours.groups == python.groups
    for text in TEXTS:
        assert ours.fullmatch(text) is (python.fullmatch(text) is not None), text


@given(st.text(alphabet="ab|*+?()[]^-:{}12,.\\ws", max_size=14), st.text("ab:12 ", max_size=8))
def test_any_pattern_is_as_python_says_or_not_known(pattern: str, text: str) -> None:
    try:
        python = re.compile(pattern)
    except (re.error, FutureWarning, OverflowError):
        return
    try:
        ours = compile_pattern(pattern)
    except NotKnown:
        return
    assert ours.groups == python.groups
    assert ours.fullmatch(text) is (python.fullmatch(text) is not None)


UNKNOWN = (
    *(r"(?=a)b", r"(a)\1", "(", ")", "a)", "[a", "*a", "a**", "a{2", "a{999}", r"\bx", "x" * 501),
    *("(" * 200, "(" * 100 + ")" * 100 + "{200}", "((a{100}){100}){100}", "(a*){9}" * 200),
)


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_what_is_not_known(pattern: str) -> None:
    with pytest.raises(NotKnown):
        compile_pattern(pattern)


def test_no_pattern_takes_long() -> None:
    evil = compile_pattern("(a+)+:(a|a)*b")
    assert not evil.fullmatch("a" * 500 + ":" + "a" * 500)
