"""The functions of a CUDA evaluator, found in its tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from bot.leaderboards.check.cuda_tokens import Sort, Source, Token, closing, tokenize
from bot.leaderboards.check.machine import MAX_SOURCE, Unreadable
from bot.leaderboards.model import Task
from runner_client.wire import CudaEvaluator

MAX_LOOKAHEAD = 400
_NO_FUNCTIONS = {
    "if", "for", "while", "switch", "return", "sizeof", "catch", "decltype", "alignas", "alignof",
    "defined", "static_assert", "__attribute__", "__launch_bounds__", "__align__", "noexcept",
}  # fmt: skip
_AFTER_PARAMETERS = {"{", ":", "const", "noexcept", "override", "final", "->", "try", "mutable"}
PUSHES = {"nvtxRangePushA", "nvtxRangePush", "nvtxRangePushEx"}


@dataclass(eq=False, slots=True)
class CudaFunction:
    """A function's name, the file it stands in and the tokens between its braces."""

    name: str
    file: str
    line: int
    body: list[Token]


@dataclass(slots=True)
class Program:
    """All that the evaluator's own files define.

    `texts` are names that stand for a text; `pushes`, `pops` and `scoped` those that open and close
    ranges, also by a macro or a class of the evaluator's own. `openers` are functions that push
    the name which they are given.
    """

    files: list[str] = field(default_factory=list)
    functions: dict[str, list[CudaFunction]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    pushes: set[str] = field(default_factory=lambda: set(PUSHES))
    pops: set[str] = field(default_factory=lambda: {"nvtxRangePop"})
    scoped: set[str] = field(default_factory=lambda: {"scoped_range", "scoped_range_in"})
    openers: set[str] = field(default_factory=set)


def read_program(task: Task, evaluator: CudaEvaluator) -> Program:
    """Read the evaluator's sources and the problem's files that they include.

    Raises Unreadable.
    """
    texts = {file.name: file.content for file in task.files}
    program, waiting = Program(), list(evaluator.sources)
    while waiting:
        name = waiting.pop(0)
        text = texts.get(name)
        if text is None or name in program.files:
            continue
        if len(text) > MAX_SOURCE:
            raise Unreadable(name, None, f"it has more than {MAX_SOURCE:,} characters")
        source = tokenize(name, text)
        program.files.append(name)
        program.sources.append(source)
        waiting.extend(source.includes)
        _find_macros(source, program)
        _find_functions(source, program)
        _find_texts(source, program)
    classes = {name for source in program.sources for name in _classes(source.tokens)}
    program.scoped |= program.openers & classes
    return program


def _find_functions(source: Source, program: Program) -> None:
    tokens, place = source.tokens, 0
    while place < len(tokens):
        body = _body_of(tokens, place)
        if body is None:
            place += 1
            continue
        end = closing(tokens, body)
        token = tokens[place]
        function = CudaFunction(token.text, source.file, token.line, tokens[body + 1 : end])
        program.functions.setdefault(token.text, []).append(function)
        if _opens_given(function):
            program.openers.add(function.name)
        place = end + 1


def _find_macros(source: Source, program: Program) -> None:
    for name, text in source.macros.items():
        if text.startswith('"') and text.endswith('"'):
            program.texts[name] = text[1:-1]
        for names, word in (
            (program.pushes, "nvtxRangePush"),
            (program.pops, "nvtxRangePop"),
            (program.scoped, "scoped_range"),
        ):
            if word in text:
                names.add(name)


def _classes(tokens: list[Token]) -> Iterator[str]:
    for word, name in pairwise(tokens):
        if word.text in {"struct", "class"} and name.sort is Sort.NAME:
            yield name.text


def _opens_given(function: CudaFunction) -> bool:
    pushes = any(token.text in PUSHES for token in function.body)
    return pushes and not any(token.sort is Sort.TEXT for token in function.body)


def _body_of(tokens: list[Token], place: int) -> int | None:
    """Return where the body of a function begins whose name stands at `place`."""
    token = tokens[place]
    if token.sort is not Sort.NAME or token.text in _NO_FUNCTIONS:
        return None
    if place + 1 >= len(tokens) or tokens[place + 1].text != "(":
        return None
    after = closing(tokens, place + 1) + 1
    if after >= len(tokens) or tokens[after].text not in _AFTER_PARAMETERS:
        return None
    for at in range(after, min(after + MAX_LOOKAHEAD, len(tokens))):
        if tokens[at].text == ";" and tokens[at].sort is Sort.MARK:
            return None
        if tokens[at].text == "{" and not _initialises(tokens, after, at):
            return at
    return None


def _initialises(tokens: list[Token], after: int, at: int) -> bool:
    """Whether a brace belongs to a member in a constructor's list: `: size_{n}`."""
    return tokens[after].text == ":" and tokens[at - 1].sort is Sort.NAME


def _find_texts(source: Source, program: Program) -> None:
    """Names of constants: `constexpr char kRange[] = "custom_kernel";`."""
    tokens = source.tokens
    for place in range(2, len(tokens)):
        if tokens[place].sort is not Sort.TEXT or tokens[place - 1].text not in {"=", "{"}:
            continue
        name = tokens[place - 2]
        if name.text == "]" and place > 3:
            name = tokens[place - 4]
        if name.sort is Sort.NAME:
            program.texts.setdefault(name.text, tokens[place].text)
