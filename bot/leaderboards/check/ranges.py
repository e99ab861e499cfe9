"""Ranges and profilers that are opened and closed."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.leaderboards.check.machine import Call
from bot.leaderboards.check.trace import Kind
from bot.leaderboards.check.values import Profiler, Range, Record, Value, options


@contextmanager
def entered(values: tuple[Value, ...], site: Call) -> Iterator[None]:
    """Open what a `with` statement or a decorator opens, and close it again."""
    state = site.machine.trace.state
    before = (state.ranges, state.openings, state.profiled, state.recorded)
    for value in values:
        for one in options(value):
            enter(one, site)
    yield
    state.ranges, state.openings, state.profiled, state.recorded = before


def enter(value: Value, site: Call) -> None:
    """Open a range, record or profiler in the state of this thread."""
    state = site.machine.trace.state
    match value:
        case Range():
            site.machine.trace.push(value.name, domain=value.domain)
            site.note(Kind.OPEN, value.name or "")
        case Record():
            site.note(Kind.RECORD, value.name or "")
            state.recorded += 1
        case Profiler():
            site.note(Kind.PROFILER)
            state.profiled = True
        case _:
            pass
