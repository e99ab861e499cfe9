"""What operators, attributes and subscripts make of values."""

import ast
import operator
from collections.abc import Callable
from dataclasses import replace

from bot.leaderboards.check import libraries
from bot.leaderboards.check.machine import Call
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.check.values import (
    ANY,
    Any,
    Class,
    Const,
    Env,
    External,
    Function,
    Instance,
    Items,
    Mapping,
    Mark,
    Method,
    Sibling,
    Submission,
    Submitted,
    Value,
    join,
    options,
)

MAX_TEXT = 2_000
MAX_PATH = 300
ARGV = Items((Const("eval.py"), Const(libraries.MODE, Mark.MODE), ANY))
_PROFILE = Const(libraries.MODE)
_ORDER: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def external(path: str) -> Value:
    """Return a library's name as a value."""
    if path == "sys.argv":
        return ARGV
    return External(path) if len(path) <= MAX_PATH else ANY


def attribute(owner: Value, name: str, site: Call) -> Value:
    """Return `owner.name`."""
    match owner:
        case External():
            return external(f"{owner.path}.{name}")
        case Submission():
            return Submitted(name)
        case Sibling():
            return site.machine.module(owner.name).names.get(name, ANY)
        case Class() | Instance():
            return _member(owner, name)
        case _:
            return Method(owner, name)


def _member(owner: Class | Instance, name: str) -> Value:
    if isinstance(owner, Class):
        return _bound(owner.find(name), owner, ("classmethod",)) or ANY
    if name in owner.attributes:
        return owner.attributes[name]
    found = owner.of.find(name)
    return _bound(found, owner, ("", "classmethod", "property")) or Method(ANY, name)


def _bound(found: Value | None, owner: Value, kinds: tuple[str, ...]) -> Value | None:
    return (
        replace(found, bound=owner)
        if isinstance(found, Function) and found.kind in kinds
        else found
    )


def add(left: Value, right: Value) -> Value:
    """Join texts; the runner's word keeps its mark."""
    if not isinstance(left, Const) or not isinstance(right, Const):
        return ANY
    if not isinstance(left.value, str) or not isinstance(right.value, str):
        return ANY
    text = left.value + right.value
    mark = Mark.MODE if Mark.MODE in (left.mark, right.mark) else Mark.NONE
    return Const(text, mark) if len(text) <= MAX_TEXT else ANY


def subscript(owner: Value, key: Value | slice, site: Call) -> Value:
    """Return `owner[key]`."""
    if isinstance(key, slice):
        return Items(owner.items[key]) if isinstance(owner, Items) else ANY
    match owner:
        case Mapping():
            return lookup(owner, key, None, site)
        case Items():
            return _item(owner, key)
        case External():
            return _library_entry(owner, key, site)
        case _:
            return ANY


def _library_entry(owner: External, key: Value, site: Call) -> Value:
    if owner.path == "os.environ":
        return variable(key, None)
    if owner.path == "globals()":
        return global_name(site.env, key)
    if owner.path == "sys.modules" and key == Const("__main__"):
        return Sibling(site.env.file.removesuffix(".py"))
    return external(f"{owner.path}[]")


def _item(owner: Items, key: Value) -> Value:
    if isinstance(key, Const) and isinstance(key.value, int):
        place = key.value
        return owner.items[place] if -len(owner.items) <= place < len(owner.items) else ANY
    return join(list(owner.items)) if owner.items else ANY


def lookup(owner: Mapping, key: Value, default: Value | None, site: Call) -> Value:
    """Return an entry; a key that cannot be told, among modes, is the mode."""
    names = [name.value for name, _ in owner.entries if isinstance(name, Const)]
    if not isinstance(key, Const):
        if libraries.MODE not in names:
            return join([value for _, value in owner.entries]) if owner.entries else ANY
        key = Const(libraries.MODE, Mark.MODE)
    if key.mark is Mark.MODE:
        site.note(Kind.MODE)
    for name, value in reversed(owner.entries):
        if isinstance(name, Const) and name.value == key.value:
            return value
    return ANY if default is None else default


def variable(name: Value, default: Value | None) -> Value:
    """Return an environment variable as the runner sets it for a profile under ncu."""
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return ANY
    if name.value in libraries.ENVIRONMENT:
        mark = Mark.NCU if name.value == "POPCORN_NCU" else Mark.NONE
        return Const(libraries.ENVIRONMENT[name.value], mark)
    return ANY if default is None else join([ANY, default])


def global_name(env: Env, key: Value) -> Value:
    """Return what `globals()[key]` is."""
    while env.parent is not None:
        env = env.parent
    if isinstance(key, Const) and isinstance(key.value, str):
        return env.names.get(key.value, ANY)
    return ANY


def compare(left: Value, op: ast.cmpop, right: Value, site: Call) -> bool | None:
    """Whether a comparison holds, None where it cannot be told."""
    left, right = _as_mode(left, right), _as_mode(right, left)
    marks = {one.mark for side in (left, right) for one in options(side) if isinstance(one, Const)}
    if Mark.MODE in marks:
        site.note(Kind.MODE)
    if isinstance(op, ast.In | ast.NotIn):
        held = _contains(left, right, site)
        return held if held is None or isinstance(op, ast.In) else not held
    if not isinstance(left, Const) or not isinstance(right, Const):
        return _unlike(left, op, right)
    if Mark.NCU in marks and None in (left.value, right.value):
        site.note(Kind.TRUTH)
    return _held(left.value, op, right.value)


def _held(left: object, op: ast.cmpop, right: object) -> bool | None:
    if isinstance(op, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        return (left == right) is isinstance(op, ast.Eq | ast.Is)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _ORDER[type(op)](left, right)
    return None


def _as_mode(value: Value, other: Value) -> Value:
    """What an unknown value is, by the word `profile` that it is compared with."""
    unknown = isinstance(value, Any | External | Method)
    return Const(libraries.MODE, Mark.MODE) if unknown and other == _PROFILE else value


def _unlike(left: Value, op: ast.cmpop, right: Value) -> bool | None:
    """An object of the problem is not None; of anything else nothing is known."""
    if not isinstance(op, ast.Is | ast.IsNot) or right != Const(None):
        return None
    if isinstance(left, Instance | Function | Submitted | Class | Mapping | Items):
        return isinstance(op, ast.IsNot)
    return None


def _contains(left: Value, right: Value, site: Call) -> bool | None:
    if right == External("os.environ"):
        if left == Const("POPCORN_NCU"):
            site.note(Kind.TRUTH)
        known = isinstance(left, Const) and left.value in libraries.ENVIRONMENT
        return True if known else None
    if not isinstance(left, Const):
        return None
    if isinstance(right, Const) and isinstance(right.value, str) and isinstance(left.value, str):
        return left.value in right.value
    members = right.items if isinstance(right, Items) else ()
    if isinstance(right, Mapping):
        members = tuple(name for name, _ in right.entries)
    if not members:
        return None
    if any(isinstance(one, Const) and one.value == left.value for one in members):
        return True
    return False if all(isinstance(one, Const) for one in members) else None
