"""Whether the evaluator's own grammar takes the values that task.yml declares."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.leaderboards.check.machine import Unreadable, parse
from bot.leaderboards.check.model import Finding
from bot.leaderboards.check.pattern import NotKnown, Pattern, compile_pattern
from bot.leaderboards.model import Task, spec_line

TASK = "task.yml"
_READERS = {"literal_eval", "eval", "safe_load", "loads"}


@dataclass(frozen=True, slots=True)
class Grammar:
    """A regular expression that the evaluator applies to the fields of a case."""

    text: str
    file: str
    line: int
    pattern: Pattern


def grammar_of(text: str, file: str, line: int) -> Grammar | None:
    """Return an expression as a grammar of `key: value`; None where it is none, or not known."""
    try:
        pattern = compile_pattern(text)
    except NotKnown:
        return None
    return Grammar(text, file, line, pattern) if ":" in text and pattern.groups > 1 else None


def check_values(task: Task, grammars: tuple[Grammar, ...]) -> Iterator[Finding]:
    """Yield a finding for each key with a value that no grammar takes."""
    if not grammars:
        return
    seen: set[tuple[str, str]] = set()
    for place, key, value in _fields(task):
        kind = type(value).__name__
        if (key, kind) in seen:
            continue
        field = f"{key}: {value}"
        # Fields are split at the semicolon, so that all but the first begin with a blank.
        if not any(one.pattern.fullmatch(f" {field}") for one in grammars):
            seen.add((key, kind))
            where = f"{grammars[0].file}:{grammars[0].line}"
            yield Finding(
                "spec-rejected",
                TASK,
                None,
                f"{place}: `{field[:100]}` is not taken by the evaluator's own grammar at {where} "
                f"({grammars[0].text[:120]}): widen it, or declare the value otherwise",
            )


def check_booleans(task: Task, sources: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding for each key with True or False, where the evaluator reads it as text.

    `sources` are the evaluator's files by name.
    """
    if any(_reads_booleans(name, text) for name, text in sources.items()):
        return
    seen: set[str] = set()
    for place, key, value in _fields(task):
        if isinstance(value, bool) and key not in seen:
            seen.add(key)
            yield Finding(
                "bool-as-text",
                TASK,
                None,
                f'{place}: `{key}` reaches the evaluator as the text "{value}", and any text is '
                "true: declare it as 0 or 1, or let the evaluator compare the text",
            )


def _fields(task: Task) -> Iterator[tuple[str, str, object]]:
    for name, cases in (("benchmarks", task.benchmarks), ("tests", task.tests)):
        for index, case in enumerate(cases):
            for key, value in case.items():
                yield f"{name}[{index}]", key, value


def _reads_booleans(name: str, text: str) -> bool:
    """Whether a file has the texts that Python writes for booleans."""
    if not name.endswith(".py"):
        return '"True"' in text or '"False"' in text
    try:
        return any(map(_reads_boolean, ast.walk(parse(name, text))))
    except Unreadable:
        return False


def _reads_boolean(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value="True" | "False"):
            return True
        case ast.Compare(left=ast.Call(func=ast.Attribute(attr="lower" | "casefold"))):
            words = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            return any(word in {"true", "false"} for word in words)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in _READERS
        case _:
            return False


def takes_no_benchmark(task: Task, grammars: tuple[Grammar, ...]) -> bool:
    """Whether some benchmark's line would end the evaluator before it begins."""
    return any(
        not any(one.pattern.fullmatch(part) for one in grammars)
        for case in task.benchmarks
        for part in spec_line(case).split(";")
    )
