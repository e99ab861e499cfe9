"""What a call does: a function of the problem is followed, a library's is known by its name."""

import ast
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import singledispatch

from bot.leaderboards.check import libraries
from bot.leaderboards.check.library_calls import call_library, elsewhere
from bot.leaderboards.check.machine import MAX_FRAMES, Call, Flow, Frame, is_following
from bot.leaderboards.check.ranges import entered
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.check.values import (
    ANY,
    NONE,
    Any,
    Class,
    Const,
    Env,
    External,
    Function,
    Instance,
    Items,
    Managed,
    Mark,
    Method,
    Partial,
    Profiler,
    Range,
    Record,
    Submitted,
    Value,
    callables_in,
    items_of,
    join,
    options,
    weigh,
)

RANGE_NAME = "custom_kernel"
_FROM_REFERENCE = (("generate_input", Kind.SET_UP), ("check_implementation", Kind.CHECK))


def call(callee: Value, site: Call) -> Value:
    """Return what a call gives; a choice of callees is called one after the other."""
    site.machine.trace.step()
    choices = options(callee)
    return join([_call(one, site) for one in choices])


@singledispatch
def _call(_: Value, site: Call) -> Value:
    """A function came from where the check cannot see."""
    if isinstance(site.node, ast.Call) and not isinstance(site.node.func, ast.Attribute):
        site.note(Kind.OPAQUE, ast.unparse(site.node.func)[:80])
    _call_arguments(site)
    return ANY


@_call.register
def _(callee: Submitted, site: Call) -> Value:
    site.note(Kind.CALL, callee.name)
    return ANY


@_call.register
def _(callee: Partial, site: Call) -> Value:
    keywords = (*callee.keywords, *site.keywords)
    return call(callee.callable, site.with_args((*callee.args, *site.args), keywords))


def _call_arguments(site: Call) -> None:
    """Whoever gets a function calls it."""
    for function in callables_in((*site.args, *(value for _, value in site.keywords))):
        call(function, site.with_args(()))


@_call.register(External)
@_call.register(Method)
def _(callee: External | Method, site: Call) -> Value:
    if elsewhere(callee, site):
        return _in_worker(callee, site)
    known = call_library(callee, site)
    if known is not None:
        return known
    if _is_looker(callee):
        return ANY
    _call_arguments(site)
    _note_lost(callee, site)
    return External(f"{callee.path}()") if isinstance(callee, External) else ANY


def _is_looker(callee: External | Method) -> bool:
    if isinstance(callee, Method):
        return False
    return callee.path in libraries.LOOKERS or callee.path.startswith(libraries.LOOKER_MODULES)


def _note_lost(callee: External | Method, site: Call) -> None:
    """The mode or the range's name went into a library, or another program is started."""
    if isinstance(callee, External) and "." in callee.path:
        given = [one for value in site.args for one in _flat(value) if isinstance(one, Const)]
        lost = any(one.mark is Mark.MODE or one.value == RANGE_NAME for one in given)
        if lost or callee.path.startswith(libraries.RUNNERS):
            site.note(Kind.OPAQUE, callee.path)


def _flat(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Items) else options(value)


def decorate(decorator: Value, function: Function, site: Call) -> Value:
    """Return what a decorator makes of a function; one of a library leaves it as it is."""
    if isinstance(decorator, External):
        path = decorator.path
        if path in libraries.CONTEXT_MANAGERS:
            return replace(function, context=True)
        return replace(function, kind=path) if path in libraries.METHOD_KINDS else function
    made = call(decorator, site.with_args((function,)))
    return function if isinstance(made, Any | External) else made


def _in_worker(callee: External | Method, site: Call) -> Value:
    """Follow work that another thread or process does: no range and no profiler is open there."""
    trace, before = site.machine.trace, site.machine.trace.state
    functions = callables_in((*site.args, *(value for _, value in site.keywords)))
    if before.ranges and functions:
        site.note(Kind.LEFT)
    if any(_is_nested(function) for function in functions) and _is_process(callee):
        site.note(Kind.LOCAL_WORKER)
    trace.state = type(before)()
    handed = _worker_arguments(site)
    values = [call(function, site.with_args(handed)) for function in functions]
    trace.state = before
    return Method(join(values) if values else ANY, "result")


def _worker_arguments(site: Call) -> tuple[Value, ...]:
    """Return what the worker's function is called with: `args=(...)`, a tuple, or what follows."""
    given = site.argument(1, "args")
    if isinstance(given, Items):
        return given.items
    return site.args[1:]


def _is_nested(value: Value) -> bool:
    inner = value.callable if isinstance(value, Partial) else value
    return isinstance(inner, Function) and inner.nested and inner.bound is None


def _is_process(callee: External | Method) -> bool:
    return isinstance(callee, External) and "hread" not in callee.path


@_call.register
def _(callee: Instance, site: Call) -> Value:
    method = callee.of.find("__call__")
    return ANY if method is None else call(_with_self(method, callee), site)


@_call.register
def _(callee: Class, site: Call) -> Value:
    if any("Enum" in base.path for base in callee.bases if isinstance(base, External)):
        return site.args[0] if site.args else ANY
    made = Instance(callee, dict(site.keywords))
    made.attributes.update(zip(callee.fields, site.args, strict=False))
    initialise = callee.find("__init__")
    if initialise is not None:
        call(_with_self(initialise, made), site)
    return made


def _with_self(method: Value, owner: Instance) -> Value:
    return replace(method, bound=owner) if isinstance(method, Function) else method


@_call.register(Range)
@_call.register(Record)
@_call.register(Profiler)
def _(callee: Range | Record | Profiler, site: Call) -> Value:
    """A range that is used as a decorator: each call of the function opens it."""
    function = site.argument(0)
    if not isinstance(function, Function):
        return ANY
    return replace(function, enters=(callee, *function.enters))


@_call.register
def _(callee: Function, site: Call) -> Value:
    function = callee
    if function.context:
        given = (*site.args, *(value for _, value in site.keywords))
        return Managed(function, site.args, site.keywords, 1 + weigh(*given))
    reference = _reference_work(function, site)
    if reference is not None:
        return reference
    machine = site.machine
    if len(machine.frames) >= MAX_FRAMES or is_following(machine, function):
        return ANY
    plain = _is_plain(function, site)
    if plain and function.node in machine.quiet:
        return machine.quiet[function.node]
    seen = len(machine.trace.events)
    value = run(function, site)
    if plain and len(machine.trace.events) == seen:
        machine.quiet[function.node] = value
    return value


def _reference_work(function: Function, site: Call) -> Value | None:
    """What makes inputs and checks outputs is named by the contract, and not followed."""
    name = getattr(function.node, "name", "")
    for prefix, kind in _FROM_REFERENCE:
        if name.startswith(prefix):
            site.note(kind, name)
            return ANY
    return None


def _is_plain(function: Function, site: Call) -> bool:
    """Whether a function does the same whenever it is called from here."""
    given = (*site.args, *(value for _, value in site.keywords))
    if function.nested or function.enters or callables_in(given):
        return False
    return all(isinstance(one, Any | External) or _unmarked(one) for one in given)


def _unmarked(value: Value) -> bool:
    return isinstance(value, Const) and value.mark is Mark.NONE


def run(function: Function, site: Call, then: Callable[[], None] | None = None) -> Value:
    """Follow a function's body; `then` runs in what its first `yield` leaves open."""
    machine, trace = site.machine, site.machine.trace
    env = Env(function.env.file, _outside_class(function.env))
    bind(function, env, site)
    frame = Frame(function.node, trace.unsure)
    machine.frames.append(frame)
    # A function that pushes a range leaves it open; one that a decorator opens ends with it.
    with entered(function.enters, site) if function.enters else nullcontext():
        flow = machine.execute(_body(function.node), env, machine)
    machine.frames.pop()
    if then is not None and frame.yielded is not None:
        after, trace.state = trace.state, frame.yielded
        then()
        trace.state = after
    if flow is not Flow.LEAVE:
        frame.returns.append(NONE)
    return join(frame.returns)


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.stmt]:
    if isinstance(node, ast.Lambda):
        return [ast.Return(node.body, lineno=node.lineno)]
    return node.body


def _outside_class(env: Env) -> Env:
    """Return the scope that a method sees: the names of its class are not among it."""
    while env.is_class and env.parent is not None:
        env = env.parent
    return env


def bind(function: Function, env: Env, site: Call) -> None:
    """Give a function's parameters what the call hands over, else their defaults, else nothing."""
    parameters = function.node.args
    names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
    env.names.update(dict.fromkeys([*names, *(one.arg for one in parameters.kwonlyargs)], ANY))
    for extra in (parameters.vararg, parameters.kwarg):
        if extra is not None:
            env.names[extra.arg] = ANY
    env.names.update(function.defaults)
    given = site.args if function.bound is None else (function.bound, *site.args)
    env.names.update(zip(names, given, strict=False))
    if parameters.vararg is not None:
        env.names[parameters.vararg.arg] = items_of(given[len(names) :])
    env.names.update((name, value) for name, value in site.keywords if name in env.names)
