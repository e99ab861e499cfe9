"""Expressions of an evaluator -> values, with the runner's words followed through them."""

import ast
import builtins
from dataclasses import replace
from functools import singledispatch

from bot.leaderboards.check import libraries
from bot.leaderboards.check.calls import call
from bot.leaderboards.check.machine import Call, Machine
from bot.leaderboards.check.operations import add, attribute, compare, subscript
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.check.values import (
    ANY,
    NONE,
    Any,
    Const,
    Env,
    External,
    Function,
    Items,
    Mapping,
    Mark,
    Value,
    items_of,
    join,
    mapping_of,
    options,
    truth,
)

BUILTINS = frozenset(dir(builtins))


def evaluate(node: ast.expr, env: Env, machine: Machine) -> Value:
    """Return what an expression is; what it does on the way goes into the trace."""
    machine.trace.step()
    return _evaluate(node, env, machine)


def condition(node: ast.expr, env: Env, machine: Machine) -> bool | None:
    """Whether a test holds, None where it cannot be told."""
    value = evaluate(node, env, machine)
    note_truth(value, Call(machine, env, node))
    return truth(value)


def note_truth(value: Value, site: Call) -> None:
    """Note where POPCORN_NCU's text is taken for a truth value."""
    if any(isinstance(one, Const) and one.mark is Mark.NCU for one in options(value)):
        site.note(Kind.TRUTH)


@singledispatch
def _evaluate(node: ast.expr, env: Env, machine: Machine) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(child, env, machine)
    return ANY


@_evaluate.register
def _(node: ast.Constant, _env: Env, _machine: Machine) -> Value:
    if isinstance(node.value, complex) or node.value is ...:
        return ANY
    return Const(node.value)


@_evaluate.register
def _(node: ast.Name, env: Env, _machine: Machine) -> Value:
    found = env.find(node.id)
    if found is None:
        return External(node.id) if node.id in BUILTINS else ANY
    return _mode(node.id, found)


@_evaluate.register
def _(node: ast.Attribute, env: Env, machine: Machine) -> Value:
    owner = evaluate(node.value, env, machine)
    site = Call(machine, env, node)
    found = join([attribute(one, node.attr, site) for one in options(owner)])
    if isinstance(found, Function) and found.kind == "property":
        return call(found, site)
    return _mode(node.attr, found)


def _mode(name: str, value: Value) -> Value:
    """A value of which nothing but its name is known, as of argparse, is the mode by its name."""
    if name in libraries.MODE_NAMES and isinstance(value, Any | External):
        return Const(libraries.MODE, Mark.MODE)
    return value


@_evaluate.register
def _(node: ast.Call, env: Env, machine: Machine) -> Value:
    callee = evaluate(node.func, env, machine)
    args: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(argument.value, env, machine)
            args.extend(value.items if isinstance(value, Items) else ())
        else:
            args.append(evaluate(argument, env, machine))
    keywords = [(word.arg or "**", evaluate(word.value, env, machine)) for word in node.keywords]
    return call(callee, Call(machine, env, node, tuple(args), tuple(keywords)))


@_evaluate.register
def _(node: ast.Compare, env: Env, machine: Machine) -> Value:
    left = evaluate(node.left, env, machine)
    held: list[bool | None] = []
    for operator, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(right_node, env, machine)
        held.append(compare(left, operator, right, Call(machine, env, node)))
        left = right
    if False in held:
        return Const(False)
    return ANY if None in held else Const(True)


@_evaluate.register
def _(node: ast.BoolOp, env: Env, machine: Machine) -> Value:
    stops_at = isinstance(node.op, ast.Or)
    possible: list[Value] = []
    before = machine.trace.unsure
    for operand in node.values:
        value = evaluate(operand, env, machine)
        known = truth(value)
        if not stops_at and known and operand is not node.values[-1]:
            note_truth(value, Call(machine, env, operand))
        if known is None or known is stops_at or operand is node.values[-1]:
            possible.append(value)
        if known is stops_at:
            break
        if known is None:
            machine.trace.unsure += 1
    machine.trace.unsure = before
    return _truths(possible, stops_at)


def _truths(possible: list[Value], stops_at: bool) -> Value:
    """Join an operator's operands; one that decides it decides it whatever the others are."""
    if len(possible) > 1 and truth(possible[-1]) is stops_at and ANY in possible[:-1]:
        return possible[-1]
    return join(possible)


@_evaluate.register
def _(node: ast.UnaryOp, env: Env, machine: Machine) -> Value:
    if not isinstance(node.op, ast.Not):
        evaluate(node.operand, env, machine)
        return ANY
    held = condition(node.operand, env, machine)
    return ANY if held is None else Const(not held)


@_evaluate.register
def _(node: ast.IfExp, env: Env, machine: Machine) -> Value:
    held = condition(node.test, env, machine)
    if held is not None:
        return evaluate(node.body if held else node.orelse, env, machine)
    machine.trace.unsure += 1
    values = [evaluate(node.body, env, machine), evaluate(node.orelse, env, machine)]
    machine.trace.unsure -= 1
    return join(values)


@_evaluate.register
def _(node: ast.BinOp, env: Env, machine: Machine) -> Value:
    left, right = evaluate(node.left, env, machine), evaluate(node.right, env, machine)
    return add(left, right) if isinstance(node.op, ast.Add) else ANY


@_evaluate.register
def _(node: ast.JoinedStr, env: Env, machine: Machine) -> Value:
    whole: Value = Const("")
    for part in node.values:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        whole = add(whole, evaluate(inner, env, machine))
    return whole


@_evaluate.register
def _(node: ast.Subscript, env: Env, machine: Machine) -> Value:
    owner = evaluate(node.value, env, machine)
    site = Call(machine, env, node)
    if isinstance(node.slice, ast.Slice):
        return subscript(owner, _slice(node.slice, env, machine), site)
    return subscript(owner, evaluate(node.slice, env, machine), site)


def _slice(node: ast.Slice, env: Env, machine: Machine) -> Value | slice:
    ends = [evaluate(end, env, machine) if end else NONE for end in (node.lower, node.upper)]
    numbers = [end.value for end in ends if isinstance(end, Const)]
    if len(numbers) < 2 or node.step or any(isinstance(end, str | bytes) for end in numbers):
        return ANY
    return slice(*numbers)


@_evaluate.register(ast.Tuple)
@_evaluate.register(ast.List)
@_evaluate.register(ast.Set)
def _(node: ast.Tuple | ast.List | ast.Set, env: Env, machine: Machine) -> Value:
    values = [evaluate(element, env, machine) for element in node.elts]
    starred = any(isinstance(element, ast.Starred) for element in node.elts)
    return ANY if starred else items_of(tuple(values))


@_evaluate.register
def _(node: ast.Dict, env: Env, machine: Machine) -> Value:
    entries: list[tuple[Value, Value]] = []
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(value_node, env, machine)
        if key is not None:
            entries.append((evaluate(key, env, machine), value))
        elif isinstance(value, Mapping):
            entries.extend(value.entries)
    return mapping_of(tuple(entries))


@_evaluate.register
def _(node: ast.Lambda, env: Env, machine: Machine) -> Value:
    return Function(node, env, defaults=defaults(node.args, env, machine))


def defaults(parameters: ast.arguments, env: Env, machine: Machine) -> dict[str, Value]:
    """Return what parameters are where a call does not give them."""
    found: dict[str, Value] = {}
    plain = [*parameters.posonlyargs, *parameters.args]
    for one, value in zip(reversed(plain), reversed(parameters.defaults), strict=False):
        found[one.arg] = evaluate(value, env, machine)
    for one, keyword in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if keyword is not None:
            found[one.arg] = evaluate(keyword, env, machine)
    return found


@_evaluate.register
def _(node: ast.NamedExpr, env: Env, machine: Machine) -> Value:
    value = env.names[node.target.id] = evaluate(node.value, env, machine)
    return value


@_evaluate.register
def _(node: ast.Await, env: Env, machine: Machine) -> Value:
    return evaluate(node.value, env, machine)


@_evaluate.register(ast.Yield)
@_evaluate.register(ast.YieldFrom)
def _(node: ast.Yield | ast.YieldFrom, env: Env, machine: Machine) -> Value:
    value = evaluate(node.value, env, machine) if node.value is not None else NONE
    frame = machine.frames[-1]
    if frame.yielded is None:
        frame.yielded = replace(machine.trace.state)
    frame.returns.append(value)
    return ANY


@_evaluate.register(ast.ListComp)
@_evaluate.register(ast.SetComp)
@_evaluate.register(ast.GeneratorExp)
@_evaluate.register(ast.DictComp)
def _(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env, machine: Machine
) -> Value:
    inner = Env(env.file, env)
    for generator in node.generators:
        over = evaluate(generator.iter, inner, machine)
        one = join(list(over.items)) if isinstance(over, Items) and over.items else ANY
        for name in ast.walk(generator.target):
            if isinstance(name, ast.Name):
                inner.names[name.id] = one if name is generator.target else ANY
        for test in generator.ifs:
            evaluate(test, inner, machine)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for part in parts:
        evaluate(part, inner, machine)
    return ANY
