"""Whatever a submission, a problem or a runner says, Discord sees harmless text."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.neutral import FENCE, ZERO_WIDTH, block, clip, closed, code, inline, plain

MENTION = re.compile(r"@everyone|@here|<@[!&]?\d+>|<#\d+>|</[^:]+:\d+>|<a?:\w+:\d+>|<t:\d+|://")
MARKS = "``` ` @everyone @here <@123> <@&5> <#9> </x:1> <a:b:1> <t:1> https://x.org ** __ || [a](b)"
HIDDEN = "\x1b[31m \x1b]0;t\x07 \u202e \u200d \ud800 \u2028 \x00"
PARTS = (*MARKS.split(), *HIDDEN.split(" "), "\r\n", "\n", "\t", "> ", "# ", "\\", "k<int>")
NASTY = st.lists(st.sampled_from(PARTS) | st.text(max_size=20), max_size=30).map("".join)


@given(text=NASTY, limit=st.integers(min_value=60, max_value=2_000))
def test_a_block_has_one_fence_pair_and_fits(text: str, limit: int) -> None:
    shown = block(text, limit)
    assert shown.startswith(f"{FENCE}\n")
    assert shown.endswith(f"\n{FENCE}")
    assert shown.count(FENCE) == 2
    assert len(shown) <= limit


@given(text=NASTY)
def test_no_text_mentions_links_or_hides(text: str) -> None:
    for shown in (block(text, 500), inline(text), code(text)):
        assert not MENTION.search(shown)
        visible = shown.replace(ZERO_WIDTH, "").replace("\n", "")
        assert not [c for c in visible if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@given(text=NASTY, limit=st.integers(min_value=30, max_value=400))
def test_running_text_is_one_short_line_without_markdown(text: str, limit: int) -> None:
    shown = inline(text, limit)
    assert "\n" not in shown
    assert len(shown) <= limit
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_~|\[\]]", shown)


@given(text=NASTY)
def test_inline_code_has_one_pair_of_backticks(text: str) -> None:
    assert code(text).count("`") == 2


@given(before=NASTY, text=NASTY, limit=st.integers(min_value=50, max_value=600))
def test_cutting_a_composed_text_leaves_no_block_open(before: str, text: str, limit: int) -> None:
    shown = closed(f"{inline(before)}\n{block(text, 500)}\nafter", limit)
    assert shown.count(FENCE) % 2 == 0
    assert len(shown) <= limit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("a\r\nb\tc", "a\nb    c"),
        ("abc\u202edcba", "abcdcba"),
        ("\x1b]8;;http://x\x07link", "link"),
    ],
)
def test_plain_drops_what_cannot_be_seen(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_long_block_says_how_many_lines_are_missing() -> None:
    shown = block("\n".join(f"line {number}" for number in range(100)), 200)
    kept = [line for line in shown.split("\n") if line.startswith("line")]
    assert shown.endswith(f"… {100 - len(kept)} more lines\n{FENCE}")


def test_a_single_long_line_is_cut() -> None:
    assert block("x" * 500, 100) == f"{FENCE}\n{'x' * 91}…\n{FENCE}"


def test_empty_text_still_makes_a_block() -> None:
    assert block("", 100) == f"{FENCE}\n{ZERO_WIDTH}\n{FENCE}"
    assert code("") == "` `"


def test_a_line_cannot_open_as_a_heading_or_quote() -> None:
    assert inline("# big") == "\\# big"
    assert inline("> quoted") == "\\> quoted"
    assert inline("a - b") == "a - b"


def test_clip_keeps_short_text_and_marks_cut_text() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcd", 3) == "ab…"
