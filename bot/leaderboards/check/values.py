"""What an expression of an evaluator can be, as far as the check follows it."""

import ast
from dataclasses import dataclass, field
from enum import Enum

MAX_CHOICES = 8
MAX_SIZE = 2_000
"""Values inside one value, all levels counted: comparing two takes time by it."""


class Mark(Enum):
    """Where a constant comes from; the runner's own words are followed through the program."""

    NONE = ""
    MODE = "mode"
    NCU = "ncu"


@dataclass(frozen=True, slots=True)
class Any:
    """Nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Never:
    """The call does not come back: it raises or exits."""


@dataclass(frozen=True, slots=True)
class Const:
    """A number, text, True, False or None."""

    value: str | bytes | int | float | bool | None
    mark: Mark = Mark.NONE


@dataclass(frozen=True, slots=True)
class Items:
    """A list or tuple whose elements are known."""

    items: "tuple[Value, ...]"
    size: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict, in order; a key is a constant or anything else."""

    entries: "tuple[tuple[Value, Value], ...]"
    size: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class External:
    """A name of a library that the problem does not bring along, as `torch.cuda.synchronize`.

    What a library returns has `()` behind its name.
    """

    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of something that no class of the problem describes."""

    of: "Value"
    name: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """A function of the submission."""

    name: str


@dataclass(frozen=True, slots=True)
class Submission:
    """The submission as a module."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another Python file of the problem, as a module."""

    name: str


@dataclass(frozen=True, slots=True)
class Range:
    """What opens a push/pop range: `name` is None where it cannot be told."""

    name: str | None
    domain: bool = False


@dataclass(frozen=True, slots=True)
class Profiler:
    """torch.profiler, made but not started."""


@dataclass(frozen=True, slots=True)
class Record:
    """torch.profiler.record_function: it opens no NVTX range."""

    name: str | None


@dataclass(eq=False, slots=True)
class Env:
    """Names of one module, class, function or lambda, and the scope around it.

    `shared` are names that a `global` or `nonlocal` statement lends from further out.
    """

    file: str
    parent: "Env | None" = None
    names: "dict[str, Value]" = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    is_class: bool = False

    def find(self, name: str) -> "Value | None":
        """Return what a name means here, None where it is not bound."""
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return env.names[name]
            env = env.parent
        return None

    def owner(self, name: str) -> "Env":
        """Return the scope in which an assignment to a name lands."""
        env = self
        if name in self.shared:
            while env.parent is not None and (env is self or name not in env.names):
                env = env.parent
        return env

    @property
    def is_module(self) -> bool:
        """Whether these are a module's own names."""
        return self.parent is None


@dataclass(eq=False, slots=True)
class Function:
    """A function or lambda of the problem.

    `enters` are ranges that its decorators open, `context` says that it is a `contextmanager`,
    `kind` is `property`, `classmethod`, `staticmethod` or nothing.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    env: Env
    bound: "Value | None" = None
    enters: "tuple[Value, ...]" = ()
    context: bool = False
    kind: str = ""
    defaults: "dict[str, Value]" = field(default_factory=dict)

    @property
    def nested(self) -> bool:
        """Whether no spawned process could import it."""
        return isinstance(self.node, ast.Lambda) or not self.env.is_module


@dataclass(frozen=True, slots=True)
class Partial:
    """A callable with its first arguments."""

    callable: "Value"
    args: "tuple[Value, ...]"
    keywords: "tuple[tuple[str, Value], ...]"
    size: int = field(default=1, compare=False)


@dataclass(eq=False, slots=True)
class Class:
    """A class of the problem; `fields` are its annotated names, in order."""

    env: Env
    bases: "tuple[Value, ...]" = ()
    fields: tuple[str, ...] = ()

    def find(self, name: str) -> "Value | None":
        """Return a member, of a base class of the problem too."""
        if name in self.env.names:
            return self.env.names[name]
        found = (base.find(name) for base in self.bases if isinstance(base, Class))
        return next((value for value in found if value is not None), None)


@dataclass(eq=False, slots=True)
class Instance:
    """An object of such a class."""

    of: Class
    attributes: "dict[str, Value]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Managed:
    """What a `contextmanager` function of the problem returned, not yet entered."""

    function: Function
    args: "tuple[Value, ...]"
    keywords: "tuple[tuple[str, Value], ...]"
    size: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, no telling which."""

    values: "tuple[Value, ...]"
    size: int = field(default=1, compare=False)


Value = (
    Any
    | Never
    | Const
    | Items
    | Mapping
    | External
    | Method
    | Submitted
    | Submission
    | Sibling
    | Range
    | Profiler
    | Record
    | Function
    | Partial
    | Class
    | Instance
    | Managed
    | Choice
)
ANY = Any()
NEVER = Never()
NONE = Const(None)
CALLABLES = (Function, Partial, Submitted)
ARGUMENTS = tuple[Value, ...]
KEYWORDS = tuple[tuple[str, Value], ...]


def options(value: Value) -> tuple[Value, ...]:
    """Return the values that `value` may be."""
    return value.values if isinstance(value, Choice) else (value,)


def weigh(*values: Value) -> int:
    """Return how many values these hold, all levels counted."""
    sized = (Items, Mapping, Partial, Managed, Choice)
    return sum(value.size if isinstance(value, sized) else 1 for value in values)


def items_of(values: ARGUMENTS) -> Value:
    """Return a list or tuple of these, Any where they are too many."""
    size = 1 + weigh(*values)
    return Items(values, size) if size <= MAX_SIZE else ANY


def mapping_of(entries: tuple[tuple[Value, Value], ...]) -> Value:
    """Return a dict of these, Any where they are too many."""
    size = 1 + sum(weigh(*entry) for entry in entries)
    return Mapping(entries, size) if size <= MAX_SIZE else ANY


def partial_of(callable_: Value, args: ARGUMENTS, keywords: KEYWORDS) -> Value:
    """Return a callable with its first arguments, Any where they are too many."""
    size = 1 + weigh(callable_, *args, *(value for _, value in keywords))
    return Partial(callable_, args, keywords, size) if size <= MAX_SIZE else ANY


def join(values: list[Value]) -> Value:
    """Return the value that is one of `values`; Never where there is none."""
    found: list[Value] = []
    for value in values:
        found.extend(one for one in options(value) if one not in found and one != NEVER)
        if len(found) > MAX_CHOICES:
            break
    if not found:
        return NEVER
    if len(found) == 1:
        return found[0]
    size = weigh(*found)
    return Choice(tuple(found[:MAX_CHOICES]), size) if size <= MAX_SIZE else ANY


def truth(value: Value) -> bool | None:
    """Whether a condition holds, None where it cannot be told."""
    match value:
        case Const():
            return bool(value.value)
        case Items():
            return bool(value.items)
        case Mapping():
            return bool(value.entries)
        case Choice():
            found = {truth(one) for one in value.values}
            return found.pop() if len(found) == 1 else None
        case Any() | External() | Method() | Never():
            return None
        case _:
            return True


def text_of(value: Value) -> str | None:
    """Return the text of a constant, of bytes too."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    if isinstance(value, Const) and isinstance(value.value, bytes):
        return value.value.decode("utf-8", "replace")
    return None


def callables_in(values: "tuple[Value, ...]") -> tuple[Value, ...]:
    """Return the functions among arguments, in lists and tuples too."""
    found: list[Value] = []
    for value in values:
        for one in options(value):
            if isinstance(one, CALLABLES):
                found.append(one)
            elif isinstance(one, Items):
                found.extend(callables_in(one.items))
    return tuple(found)
