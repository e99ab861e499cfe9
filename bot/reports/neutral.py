"""Makes any text harmless in a Discord message: no fence, mention, link or hidden character."""

import re
import unicodedata

ZERO_WIDTH = "\u200b"
FENCE = "```"
CUT = "…"
FENCE_COST = 2 * len(FENCE) + 2
"""Characters that `block` adds: both fences and their line breaks."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
# Mentions, emoji, slash commands, timestamps and guild pages all open with `<`.
_OPENERS = re.compile(r"@|<(?=[@#:/]|(?:a|t|id|sound):)|:(?=//)")
_MARKDOWN = re.compile(r"([\\`*_~|\[\]])")
_LINE_START = re.compile(r"^[#>+-]")
# Controls, invisible format characters (bidirectional ones too), lone surrogates, odd line ends.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def plain(text: str) -> str:
    """Drop terminal sequences and every invisible character but the line feed."""
    lines = _TERMINAL.sub("", text).replace("\r\n", "\n").replace("\t", "    ")
    return "".join(c for c in lines if c == "\n" or unicodedata.category(c) not in _DROPPED)


def neutral(text: str) -> str:
    """Return `text` so that Discord sees no code fence, mention, emoji or link in it."""
    opened = _OPENERS.sub(lambda match: match[0] + ZERO_WIDTH, plain(text))
    return opened.replace("`", "`" + ZERO_WIDTH)


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters, the last one saying that something was cut."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + CUT


def closed(text: str, limit: int) -> str:
    """Return at most `limit` characters of a composed text; a code block that is cut is closed."""
    if len(text) <= limit:
        return text
    cut = text[: limit - FENCE_COST].rstrip("`")
    return f"{cut}\n{FENCE}" if cut.count(FENCE) % 2 else cut + CUT


def inline(text: str, limit: int = 300) -> str:
    """Return one line for running text: neutral, Markdown escaped, at most `limit` characters."""
    line = " ".join(plain(text).split())
    escaped = _escaped(clip(line, limit))
    # Escaping makes at most three characters of one.
    return escaped if len(escaped) <= limit else _escaped(clip(line, limit // 3))


def _escaped(line: str) -> str:
    return _LINE_START.sub(r"\\\g<0>", _MARKDOWN.sub(r"\\\1", neutral(line)))


def code(text: str, limit: int = 200) -> str:
    """Return one line in an inline code span."""
    line = clip(" ".join(plain(text).split()), limit).replace("`", "'")
    return f"`{neutral(line) or ' '}`"


def block(text: str, limit: int) -> str:
    """Return `text` in one code block of at most `limit` characters, cut at a line's end.

    The last line then says how many lines were left out.
    """
    lines = neutral(text).strip("\n").split("\n")
    kept = _fitting(lines, limit - FENCE_COST)
    return f"{FENCE}\n{kept or ZERO_WIDTH}\n{FENCE}"


def _fitting(lines: list[str], limit: int) -> str:
    whole = "\n".join(lines)
    if len(whole) <= limit:
        return whole
    room = limit - len(_left_out(len(lines))) - 1
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return clip(lines[0], limit)
    return "\n".join([*kept, _left_out(len(lines) - len(kept))])


def _left_out(count: int) -> str:
    return f"{CUT} {count} more lines"
