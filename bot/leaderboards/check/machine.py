"""One walk through a problem's Python files: what is shared by its parts."""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from bot.leaderboards.check.trace import Kind, State, Trace
from bot.leaderboards.check.values import ARGUMENTS, KEYWORDS, Const, Env, Function, Value

MAX_FRAMES = 25
"""Calls inside calls: each takes about thirty of the interpreter's own."""
MAX_SOURCE = 500_000
"""Characters of one file; its syntax tree takes about a hundred times as much memory."""


class Flow(Enum):
    """How a block of statements ends."""

    NEXT = auto()
    BREAK = auto()
    CONTINUE = auto()
    LEAVE = auto()


@dataclass(slots=True)
class Frame:
    """One call of a function of the problem that is being followed."""

    node: ast.AST
    unsure: int
    returns: list[Value] = field(default_factory=list)
    yielded: State | None = None


class Unreadable(Exception):  # noqa: N818 - it says what the file is
    """A file that is no Python, or too large to be checked."""

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.file = file
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class Machine:
    """The files of a problem, the modules read so far, and what was seen.

    `execute` runs a block; it is handed in, because expressions call functions whose bodies are
    statements.
    """

    sources: dict[str, str]
    submission: str
    execute: "Callable[[list[ast.stmt], Env, Machine], Flow]"
    trace: Trace = field(default_factory=Trace)
    modules: dict[str, Env] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    quiet: dict[ast.AST, Value] = field(default_factory=dict)

    def module(self, name: str, called: str | None = None) -> Env:
        """Return the names of one of the problem's modules, read when it is first imported."""
        if name in self.modules:
            return self.modules[name]
        file = f"{name}.py"
        env = self.modules[name] = Env(file)
        env.names["__name__"] = Const(called or name)
        tree = parse(file, self.sources[name])
        self.frames.append(Frame(tree, self.trace.unsure))
        self.execute(tree.body, env, self)
        self.frames.pop()
        return env

    def note(self, kind: Kind, env: Env, node: ast.AST, text: str = "") -> None:
        """Add an event at a place of the source."""
        self.trace.note(kind, env.file, getattr(node, "lineno", 1), text)


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its arguments evaluated, and the place where it stands."""

    machine: Machine
    env: Env
    node: ast.AST
    args: ARGUMENTS = ()
    keywords: KEYWORDS = ()

    def note(self, kind: Kind, text: str = "") -> None:
        """Add an event at this place."""
        self.machine.note(kind, self.env, self.node, text)

    def argument(self, place: int, name: str = "") -> Value | None:
        """Return an argument by its place or its name."""
        if place < len(self.args):
            return self.args[place]
        return dict(self.keywords).get(name)

    def with_args(self, args: ARGUMENTS, keywords: KEYWORDS = ()) -> "Call":
        """Return the same call with other arguments."""
        return Call(self.machine, self.env, self.node, args, keywords)


def parse(file: str, text: str) -> ast.Module:
    """Return the syntax tree of a file. Raises Unreadable."""
    if len(text) > MAX_SOURCE:
        raise Unreadable(file, None, f"it has more than {MAX_SOURCE:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise Unreadable(file, error.lineno, f"it is no Python ({error.msg})") from None
    except (ValueError, MemoryError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise Unreadable(file, None, f"it is no Python ({reason})") from None


def is_following(machine: Machine, function: Function) -> bool:
    """Whether a function is being followed already, so that this call is a recursion."""
    return any(frame.node is function.node for frame in machine.frames)
