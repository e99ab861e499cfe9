"""Statements of an evaluator, executed as far as `profile` under ncu goes through them."""

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

from bot.leaderboards.check.calls import call, decorate, run
from bot.leaderboards.check.expressions import condition, defaults, evaluate
from bot.leaderboards.check.library_calls import imported
from bot.leaderboards.check.machine import Call, Flow, Machine
from bot.leaderboards.check.operations import attribute, compare, external
from bot.leaderboards.check.ranges import entered
from bot.leaderboards.check.values import (
    ANY,
    NEVER,
    NONE,
    Class,
    Env,
    External,
    Function,
    Instance,
    Items,
    Managed,
    Mapping,
    Sibling,
    Submission,
    Submitted,
    Value,
    join,
    mapping_of,
)

MAX_ROUNDS = 16
ENTRY = "custom_kernel"


def execute(body: list[ast.stmt], env: Env, machine: Machine) -> Flow:
    """Execute a block up to where it is left."""
    for statement in body:
        machine.trace.step()
        flow = _execute(statement, env, machine)
        if flow is not Flow.NEXT:
            return flow
    return Flow.NEXT


@singledispatch
def _execute(_statement: ast.stmt, _env: Env, _machine: Machine) -> Flow:
    return Flow.NEXT


@_execute.register
def _(statement: ast.Expr, env: Env, machine: Machine) -> Flow:
    return Flow.LEAVE if evaluate(statement.value, env, machine) == NEVER else Flow.NEXT


@_execute.register
def _(statement: ast.Return, env: Env, machine: Machine) -> Flow:
    value = NONE if statement.value is None else evaluate(statement.value, env, machine)
    machine.frames[-1].returns.append(value)
    return Flow.LEAVE


@_execute.register
def _(statement: ast.Raise, env: Env, machine: Machine) -> Flow:
    if statement.exc is not None:
        evaluate(statement.exc, env, machine)
    return Flow.LEAVE


@_execute.register(ast.Break)
@_execute.register(ast.Continue)
def _(statement: ast.Break | ast.Continue, _env: Env, _machine: Machine) -> Flow:
    return Flow.BREAK if isinstance(statement, ast.Break) else Flow.CONTINUE


@_execute.register
def _(statement: ast.Assert, env: Env, machine: Machine) -> Flow:
    return Flow.LEAVE if condition(statement.test, env, machine) is False else Flow.NEXT


@_execute.register(ast.Global)
@_execute.register(ast.Nonlocal)
def _(statement: ast.Global | ast.Nonlocal, env: Env, _machine: Machine) -> Flow:
    env.shared.update(statement.names)
    return Flow.NEXT


@_execute.register
def _(statement: ast.Assign, env: Env, machine: Machine) -> Flow:
    value = evaluate(statement.value, env, machine)
    if value == NEVER:
        return Flow.LEAVE
    for target in statement.targets:
        assign(target, value, env, machine)
    return Flow.NEXT


@_execute.register
def _(statement: ast.AnnAssign, env: Env, machine: Machine) -> Flow:
    if statement.value is not None:
        assign(statement.target, evaluate(statement.value, env, machine), env, machine)
    return Flow.NEXT


@_execute.register
def _(statement: ast.AugAssign, env: Env, machine: Machine) -> Flow:
    evaluate(statement.value, env, machine)
    assign(statement.target, ANY, env, machine)
    return Flow.NEXT


def assign(target: ast.expr, value: Value, env: Env, machine: Machine) -> None:
    """Give a name, attribute, entry or several of them a value."""
    match target:
        case ast.Name():
            owner = env.owner(target.id)
            owner.names[target.id] = _merged(owner.names.get(target.id), value, machine)
        case ast.Tuple() | ast.List():
            _unpack(target.elts, value, env, machine)
        case ast.Starred():
            assign(target.value, ANY, env, machine)
        case ast.Attribute():
            holder = evaluate(target.value, env, machine)
            if isinstance(holder, Instance):
                old = holder.attributes.get(target.attr)
                holder.attributes[target.attr] = _merged(old, value, machine)
        case ast.Subscript():
            _assign_entry(target, value, env, machine)
        case _:
            pass


def _assign_entry(target: ast.Subscript, value: Value, env: Env, machine: Machine) -> None:
    """`HANDLERS["profile"] = run` adds to a dict that a name stands for."""
    holder = evaluate(target.value, env, machine)
    key = evaluate(target.slice, env, machine)
    if isinstance(holder, Mapping) and isinstance(target.value, ast.Name):
        owner = env
        while target.value.id not in owner.names and owner.parent is not None:
            owner = owner.parent
        owner.names[target.value.id] = mapping_of((*holder.entries, (key, value)))


def _merged(old: Value | None, new: Value, machine: Machine) -> Value:
    """Behind a condition that cannot be told, what a name was before stays possible."""
    if old is None or machine.trace.unsure <= machine.frames[-1].unsure:
        return new
    return join([old, new])


def _unpack(targets: list[ast.expr], value: Value, env: Env, machine: Machine) -> None:
    items: tuple[Value, ...] = ()
    if isinstance(value, Items) and len(value.items) == len(targets):
        items = value.items
    for place, target in enumerate(targets):
        assign(target, items[place] if items else ANY, env, machine)


@_execute.register
def _(statement: ast.If, env: Env, machine: Machine) -> Flow:
    held = condition(statement.test, env, machine)
    if held is not None:
        return execute(statement.body if held else statement.orelse, env, machine)
    return _either([statement.body, statement.orelse], env, machine)


def _either(bodies: list[list[ast.stmt]], env: Env, machine: Machine) -> Flow:
    """Execute several blocks of which one runs."""
    trace = machine.trace
    trace.unsure += 1
    before, after = trace.state, trace.state
    flows: list[Flow] = []
    for body in bodies:
        trace.state = replace(before)
        flows.append(execute(body, env, machine))
        if flows[-1] is Flow.NEXT and len(trace.state.ranges) >= len(after.ranges):
            after = trace.state
    trace.unsure -= 1
    trace.state = replace(after)
    return flows[0] if len(set(flows)) == 1 else Flow.NEXT


@_execute.register(ast.For)
@_execute.register(ast.AsyncFor)
def _(statement: ast.For | ast.AsyncFor, env: Env, machine: Machine) -> Flow:
    over = evaluate(statement.iter, env, machine)
    if not isinstance(over, Items) or len(over.items) > MAX_ROUNDS:
        assign(statement.target, ANY, env, machine)
        _round(statement.body, env, machine)
        return execute(statement.orelse, env, machine)
    for item in over.items:
        assign(statement.target, item, env, machine)
        flow = _round(statement.body, env, machine)
        if flow is Flow.LEAVE:
            return flow
        if flow is Flow.BREAK:
            return Flow.NEXT
    return execute(statement.orelse, env, machine)


def _round(body: list[ast.stmt], env: Env, machine: Machine) -> Flow:
    machine.trace.loops += 1
    flow = execute(body, env, machine)
    machine.trace.loops -= 1
    return flow


@_execute.register
def _(statement: ast.While, env: Env, machine: Machine) -> Flow:
    held = condition(statement.test, env, machine)
    if held is False:
        return execute(statement.orelse, env, machine)
    flow = _round(statement.body, env, machine)
    return flow if held and flow is Flow.LEAVE else Flow.NEXT


@_execute.register(ast.With)
@_execute.register(ast.AsyncWith)
def _(statement: ast.With | ast.AsyncWith, env: Env, machine: Machine) -> Flow:
    return _with(statement.items, statement.body, env, machine)


def _with(items: list[ast.withitem], body: list[ast.stmt], env: Env, machine: Machine) -> Flow:
    if not items:
        return execute(body, env, machine)
    first, rest = items[0], items[1:]
    value = evaluate(first.context_expr, env, machine)
    site = Call(machine, env, first.context_expr)
    flow = [Flow.NEXT]

    def inside(given: Value) -> None:
        if first.optional_vars is not None:
            assign(first.optional_vars, given, env, machine)
        flow[0] = _with(rest, body, env, machine)

    if isinstance(value, Managed):
        function = value.function
        run(function, site.with_args(value.args, value.keywords), lambda: inside(ANY))
    elif isinstance(value, Instance):
        _with_instance(value, site, inside)
    else:
        with entered((value,), site):
            inside(value)
    return flow[0]


def _with_instance(value: Instance, site: Call, inside: Callable[[Value], None]) -> None:
    enter = attribute(value, "__enter__", site)
    if not isinstance(enter, Function):
        inside(value)
        return
    with entered((), site):
        inside(call(enter, site))
        leave = attribute(value, "__exit__", site)
        if isinstance(leave, Function):
            call(leave, site.with_args((ANY, ANY, ANY)))


@_execute.register
def _(statement: ast.Try, env: Env, machine: Machine) -> Flow:
    before = replace(machine.trace.state)
    flow = execute(statement.body, env, machine)
    if flow is Flow.NEXT:
        flow = execute(statement.orelse, env, machine)
    after = machine.trace.state
    flows = [flow]
    machine.trace.unsure += 1
    for handler in statement.handlers:
        machine.trace.state = replace(before)
        if handler.name is not None:
            env.names[handler.name] = ANY
        flows.append(execute(handler.body, env, machine))
    machine.trace.unsure -= 1
    machine.trace.state = after
    final = execute(statement.finalbody, env, machine)
    if final is not Flow.NEXT:
        return final
    return flow if len(set(flows)) == 1 else Flow.NEXT


@_execute.register
def _(statement: ast.Match, env: Env, machine: Machine) -> Flow:
    subject = evaluate(statement.subject, env, machine)
    possible: list[list[ast.stmt]] = []
    for case in statement.cases:
        held = _matches(case.pattern, subject, Call(machine, env, case.pattern))
        if case.guard is not None and held is not False:
            guard = condition(case.guard, env, machine)
            held = held and guard if guard is not None else None
        if held is False:
            continue
        possible.append(case.body)
        if held:
            break
    if len(possible) == 1:
        return execute(possible[0], env, machine)
    return _either([*possible, []], env, machine)


def _matches(pattern: ast.pattern, subject: Value, site: Call) -> bool | None:
    match pattern:
        case ast.MatchValue():
            value = evaluate(pattern.value, site.env, site.machine)
            return compare(subject, ast.Eq(), value, site)
        case ast.MatchOr():
            held = [_matches(one, subject, site) for one in pattern.patterns]
            return True if True in held else None if None in held else False
        case ast.MatchAs(pattern=None):
            if pattern.name is not None:
                site.env.names[pattern.name] = subject
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _matches(inner, subject, site)
        case _:
            return None


@_execute.register(ast.FunctionDef)
@_execute.register(ast.AsyncFunctionDef)
def _(statement: ast.FunctionDef | ast.AsyncFunctionDef, env: Env, machine: Machine) -> Flow:
    value: Value = Function(statement, env, defaults=defaults(statement.args, env, machine))
    site = Call(machine, env, statement)
    for decorator in reversed(statement.decorator_list):
        if isinstance(value, Function):
            value = decorate(evaluate(decorator, env, machine), value, site)
    env.names[statement.name] = value
    return Flow.NEXT


@_execute.register
def _(statement: ast.ClassDef, env: Env, machine: Machine) -> Flow:
    bases = tuple(evaluate(base, env, machine) for base in statement.bases)
    members = Env(env.file, env, is_class=True)
    execute(statement.body, members, machine)
    fields = tuple(
        line.target.id
        for line in statement.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    )
    env.names[statement.name] = Class(members, bases, fields)
    return Flow.NEXT


@_execute.register
def _(statement: ast.Import, env: Env, machine: Machine) -> Flow:
    site = Call(machine, env, statement)
    for alias in statement.names:
        first = alias.name.partition(".")[0]
        name = alias.name if alias.asname else first
        env.names[alias.asname or first] = imported(name, site)
    return Flow.NEXT


@_execute.register
def _(statement: ast.ImportFrom, env: Env, machine: Machine) -> Flow:
    site = Call(machine, env, statement)
    module = imported(statement.module or "", site)
    for alias in statement.names:
        if alias.name == "*":
            _import_all(module, env, machine)
        elif isinstance(module, External):
            env.names[alias.asname or alias.name] = external(f"{module.path}.{alias.name}")
        else:
            env.names[alias.asname or alias.name] = attribute(module, alias.name, site)
    return Flow.NEXT


def _import_all(module: Value, env: Env, machine: Machine) -> None:
    if isinstance(module, Sibling):
        env.names.update(machine.module(module.name).names)
    elif isinstance(module, Submission):
        env.names[ENTRY] = Submitted(ENTRY)
