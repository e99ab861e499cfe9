"""Calls of libraries and of methods whose names say what they do."""

from collections.abc import Callable
from functools import singledispatch

from bot.leaderboards.check import libraries
from bot.leaderboards.check.machine import Call
from bot.leaderboards.check.operations import attribute, external, global_name, lookup, variable
from bot.leaderboards.check.ranges import enter
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.check.values import (
    ANY,
    NEVER,
    Class,
    Const,
    External,
    Instance,
    Items,
    Mapping,
    Mark,
    Method,
    Profiler,
    Range,
    Record,
    Sibling,
    Submission,
    Submitted,
    Value,
    callables_in,
    items_of,
    join,
    mapping_of,
    options,
    partial_of,
    text_of,
    truth,
)

_TEXT_METHODS = {"strip", "lower", "upper", "casefold", "lstrip", "rstrip"}


def elsewhere(callee: External | Method, site: Call) -> bool:
    """Whether a call hands its function to another thread or process."""
    name = callee.name if isinstance(callee, Method) else callee.path.rpartition(".")[2]
    if name == "map" and isinstance(callee, External):
        return "." in callee.path and bool(callables_in(site.args))
    return name in libraries.ELSEWHERE or name.endswith(libraries.ELSEWHERE_CALLS)


def call_library(callee: External | Method, site: Call) -> Value | None:
    """Return what a library's function or method gives, None where nothing is known of it."""
    if isinstance(callee, Method):
        return call_method(callee, site)
    path = callee.path
    if path in libraries.EXITS:
        return NEVER
    if path in libraries.GETENVS:
        return variable(site.argument(0, "key") or ANY, site.argument(1, "default"))
    if path in libraries.WRAPPERS and site.args:
        return site.args[0]
    name = path.rpartition(".")[2]
    made = _marker(path, site) or _builtin(path, site)
    return made or call_method(Method(External(path.rpartition(".")[0]), name), site)


def _marker(path: str, site: Call) -> Value | None:
    """Ranges, records, profilers and what stands beside them."""
    for names, act in _PLAIN:
        if path in names:
            return act(site)
    return _matcher(path, site)


def _sync(site: Call) -> Value:
    site.note(Kind.SYNC)
    return ANY


def _clone(site: Call) -> Value:
    site.note(Kind.SET_UP, "clone")
    return ANY


def _matcher(path: str, site: Call) -> Value | None:
    if path not in libraries.MATCHERS and path != "re.compile":
        return None
    pattern = text_of(site.argument(0, "pattern") or ANY)
    if pattern is None:
        return None
    if path == "re.compile":
        return Method(Const(pattern), "re.compile")
    site.note(Kind.PATTERN, pattern)
    return ANY


def _name(site: Call) -> str | None:
    given = site.argument(0, "msg") or site.argument(0, "message") or site.argument(0, "name")
    return None if given is None else text_of(given)


def _has_domain(site: Call) -> bool:
    given = site.argument(2, "domain")
    return given is not None and given != Const(None)


def _push(site: Call) -> Value:
    name = _name(site)
    site.machine.trace.push(name, domain=_has_domain(site))
    site.note(Kind.OPEN, name or "")
    return ANY


def _pop(site: Call) -> Value:
    site.machine.trace.pop()
    return ANY


def _start_end(site: Call) -> Value:
    site.note(Kind.START_END, _name(site) or "")
    return ANY


_PLAIN: tuple[tuple[set[str], Callable[[Call], Value]], ...] = (
    (libraries.PUSH_POP_MAKERS, lambda site: Range(_name(site), _has_domain(site))),
    (libraries.RECORDS, lambda site: Record(_name(site))),
    (libraries.PROFILERS, lambda _: Profiler()),
    (libraries.SYNCS, _sync),
    (libraries.CLONES, _clone),
    (libraries.PUSHES, _push),
    (libraries.POPS, _pop),
    (libraries.START_ENDS, _start_end),
)
_IN_C = (
    (libraries.C_PUSHES, _push),
    (libraries.C_POPS, _pop),
    (libraries.C_START_ENDS, _start_end),
)


def _builtin(path: str, site: Call) -> Value | None:
    if path == "dict" and not site.args:
        return mapping_of(tuple((Const(name), value) for name, value in site.keywords))
    if path not in _BUILTINS or not site.args:
        return None
    return _BUILTINS[path](site.args[0], site)


def _same_items(value: Value, _: Call) -> Value | None:
    return value if isinstance(value, Items | Mapping) else None


def imported(name: str | None, site: Call) -> Value:
    """Return a module by its name."""
    if name is None:
        return ANY
    if name == site.machine.submission:
        return Submission()
    return Sibling(name) if name in site.machine.sources else external(name)


def _truth(value: Value, site: Call) -> Value:
    if any(isinstance(one, Const) and one.mark is Mark.NCU for one in options(value)):
        site.note(Kind.TRUTH)
    held = truth(value)
    return ANY if held is None else Const(held)


def _length(value: Value, _: Call) -> Value | None:
    return Const(len(value.items)) if isinstance(value, Items) else None


def _text(value: Value, _: Call) -> Value | None:
    return value if isinstance(value, Const) and isinstance(value.value, str) else None


def _number(value: Value, _: Call) -> Value | None:
    text = text_of(value)
    known = text is not None and text.isdecimal() and len(text) < 20
    return Const(int(text)) if text is not None and known else None


def _getattr(value: Value, site: Call) -> Value:
    name = text_of(site.argument(1) or ANY)
    if name is None:
        return ANY
    return join([attribute(one, name, site) for one in options(value)])


_BUILTINS: dict[str, Callable[[Value, Call], Value | None]] = {
    "bool": _truth,
    "int": _number,
    "str": _text,
    "len": _length,
    "getattr": _getattr,
    **dict.fromkeys(("list", "tuple", "set", "frozenset"), _same_items),
    "functools.partial": lambda value, site: partial_of(value, site.args[1:], site.keywords),
    "importlib.import_module": lambda value, site: imported(text_of(value), site),
    "__import__": lambda value, site: imported(text_of(value), site),
}


def call_method(callee: Method, site: Call) -> Value | None:
    """Return what a method gives, None where nothing is known of it."""
    owner, name = callee.of, callee.name
    for names, act in _IN_C:
        if name in names:
            return act(site)
    if name == "clone":
        return _clone(site)
    if name == "enter_context" and site.args:
        enter(site.args[0], site)
        return site.args[0]
    if name in {"start", "__enter__"} and isinstance(owner, Profiler | Range | Record):
        enter(owner, site)
        return owner
    return _method_of(owner, name, site)


@singledispatch
def _method_of(owner: Value, _name: str, _site: Call) -> Value | None:
    return ANY if isinstance(owner, Class | Instance | Submitted) else None


@_method_of.register
def _(owner: Const, name: str, _site: Call) -> Value | None:
    if name in _TEXT_METHODS and isinstance(owner.value, str):
        return Const(getattr(owner.value, name)(), owner.mark)
    return None


@_method_of.register
def _(owner: External, name: str, site: Call) -> Value | None:
    if owner.path == "globals()" and name == "get":
        return global_name(site.env, site.argument(0) or ANY)
    return None


@_method_of.register
def _(owner: Method, name: str, site: Call) -> Value | None:
    if owner.name == "re.compile":
        if name in libraries.MATCHER_METHODS:
            site.note(Kind.PATTERN, text_of(owner.of) or "")
        return ANY
    return owner.of if owner.name == "result" and name in {"result", "get"} else None


@_method_of.register
def _(owner: Mapping, name: str, site: Call) -> Value | None:
    if name in {"get", "pop"} and site.args:
        return lookup(owner, site.args[0], site.argument(1) or Const(None), site)
    if name == "items":
        return items_of(tuple(items_of(entry) for entry in owner.entries))
    if name == "keys":
        return items_of(tuple(key for key, _ in owner.entries))
    return None
