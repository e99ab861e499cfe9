"""CUDA C++ source -> tokens: names, texts, numbers and marks, comments and directives left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from bot.leaderboards.check.machine import Unreadable

MAX_TOKENS = 200_000
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\f\v]+)"
    r"|(?P<line>\n)"
    r"|(?P<comment>//[^\n]*)"
    r"|(?P<block>/\*)"
    r"|(?P<raw>(?:u8|[uUL])?R\"(?P<fence>[^()\\\s\"]{0,16})\()"
    r"|(?P<text>(?:u8|[uUL])?\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<character>[uUL]?'(?:[^'\\\n]|\\.)*')"
    r"|(?P<number>\.?\d(?:[\w.']|[eEpP][+-])*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark><<<|>>>|==|!=|&&|\|\||::|->|.)",
    re.ASCII | re.DOTALL,
)
_DIRECTIVE = re.compile(r"#\s*(\w+)((?:[^\\\n]|\\.|\\\n)*)", re.ASCII | re.DOTALL)
_INCLUDE = re.compile(r"\s*([\"<])([^\">\n]+)[\">]")
_DEFINE = re.compile(r"\s*(\w+)(?:\([^)]*\))?\s+(.+)", re.ASCII | re.DOTALL)
OPENING = {"(": ")", "[": "]", "{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


class Sort(Enum):
    """What a token is."""

    NAME = auto()
    TEXT = auto()
    NUMBER = auto()
    MARK = auto()


@dataclass(slots=True)
class Token:
    """One token; of a text its contents, of an opening bracket how far off its partner is."""

    sort: Sort
    text: str
    line: int
    span: int = 0


@dataclass(slots=True)
class Source:
    """A file's tokens, the files that it includes, and its macros: names to what they stand for."""

    file: str
    tokens: list[Token]
    includes: list[str]
    macros: dict[str, str]


def tokenize(file: str, text: str) -> Source:
    """Read a file. Raises Unreadable."""
    source = Source(file, [], [], {})
    reader = _Reader(source, text)
    while reader.place < len(text):
        reader.next()
        if len(source.tokens) > MAX_TOKENS:
            raise Unreadable(file, None, f"it has more than {MAX_TOKENS:,} tokens")
    _pair(source.tokens)
    return source


def _pair(tokens: list[Token]) -> None:
    """Let every opening bracket know its partner; without one it reaches to the end."""
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token.sort is not Sort.MARK:
            continue
        if token.text in OPENING:
            token.span = len(tokens)
            waiting.append(place)
        elif waiting and token.text == OPENING[tokens[waiting[-1]].text]:
            opened = waiting.pop()
            tokens[opened].span = place - opened


class _Reader:
    def __init__(self, source: Source, text: str) -> None:
        self.source = source
        self.text = text
        self.place = 0
        self.line = 1
        self.fresh = True
        self.unused = 0

    def next(self) -> None:
        if self.fresh and self.text.startswith("#", self.place):
            self.directive()
            return
        match = _TOKEN.match(self.text, self.place)
        if match is None:
            raise self.broken("it cannot be read as C++")
        kind, found = match.lastgroup or "", match[0]
        if match["raw"] is not None:
            self.raw(match)
            return
        if kind == "block":
            self.to_end_of("*/")
            return
        self.add(kind, found)
        self.move(found)

    def add(self, kind: str, found: str) -> None:
        if kind in {"blank", "line", "comment"}:
            self.fresh = self.fresh if kind == "blank" else kind == "line"
            return
        self.fresh = False
        if kind in {"text", "character"}:
            self.token(Sort.TEXT, _unescaped(found[found.index(found[-1]) + 1 : -1]))
        else:
            self.token(Sort[kind.upper()], found)

    def token(self, sort: Sort, text: str) -> None:
        if not self.unused:
            self.source.tokens.append(Token(sort, text, self.line))

    def raw(self, match: "re.Match[str]") -> None:
        close = f'){match["fence"]}"'
        end = self.text.find(close, match.end())
        if end < 0:
            raise self.broken("a raw text does not end")
        self.token(Sort.TEXT, self.text[match.end() : end])
        self.move(self.text[self.place : end + len(close)])

    def to_end_of(self, close: str) -> None:
        end = self.text.find(close, self.place + 2)
        if end < 0:
            raise self.broken("a comment does not end")
        self.move(self.text[self.place : end + len(close)])

    def move(self, over: str) -> None:
        self.place += len(over)
        self.line += over.count("\n")

    def directive(self) -> None:
        match = _DIRECTIVE.match(self.text, self.place)
        if match is None:
            self.move("#")
            return
        self.conditional(match[1], match[2])
        include = _INCLUDE.match(match[2]) if match[1] == "include" else None
        if include and not self.unused:
            self.source.includes.append(include[2])
        define = _DEFINE.fullmatch(match[2]) if match[1] == "define" else None
        if define and not self.unused:
            self.source.macros[define[1]] = define[2].strip()
        self.move(match[0])

    def conditional(self, word: str, rest: str) -> None:
        """Leave out what `#if 0` switches off; of other conditions both sides are read."""
        if word in {"if", "ifdef", "ifndef"} and (self.unused or rest.strip() == "0"):
            self.unused += 1
        elif word == "endif" and self.unused:
            self.unused -= 1
        elif word in {"else", "elif"} and self.unused == 1:
            self.unused = 0

    def broken(self, reason: str) -> Unreadable:
        return Unreadable(self.source.file, self.line, reason)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)


def closing(tokens: list[Token], place: int) -> int:
    """Return the place of the bracket that closes the one at `place`, else the end."""
    return min(place + tokens[place].span, len(tokens))


def parts(tokens: list[Token], mark: str) -> Iterator[list[Token]]:
    """Split tokens at a mark that stands outside of brackets."""
    place = begin = 0
    while place < len(tokens):
        token = tokens[place]
        if token.sort is Sort.MARK and token.text in OPENING:
            place = closing(tokens, place)
        elif token.sort is Sort.MARK and token.text == mark:
            yield tokens[begin:place]
            begin = place + 1
        place += 1
    yield tokens[begin:]
