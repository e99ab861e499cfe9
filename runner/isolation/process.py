"""The one way to run a program: in its cell, bounded streams, a wall limit, a sure end."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from runner.capture.popcorn import PopcornLog
from runner.isolation.cell import Cell
from runner.isolation.halt import Halt, Meter, Stop
from runner.isolation.pipe import Pipe
from runner.isolation.sandbox import Sandbox
from runner.isolation.spawn import (
    KILL_WAIT_S,
    Box,
    CannotStart,
    Child,
    SandboxStatus,
    Start,
    start_bare,
    start_boxed,
)
from runner.text import Tail, one_line

__all__ = ["CannotStart", "Command", "Finished", "run"]
FORK_S = 0.01
"""How often a program is looked for whose sandbox has only begun."""
LOOK_S = 0.25
"""Pause between two looks at what a program has taken."""
Sink = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run; `env` is its whole environment, nothing is inherited.

    `wall_s` bounds its time; then, or on cancel, it gets SIGTERM and `grace_s` seconds to write
    what it has. `popcorn` gives it a pipe named by POPCORN_FD. `max_output` bounds the bytes that
    it may print on both streams. `cell` bounds it and what it sees; paths in `argv`, `cwd` and
    `env` are those that it sees. Only programs of the runner's own go without.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    wall_s: float
    grace_s: float = 2.0
    popcorn: bool = False
    max_output: int | None = None
    cell: Cell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a program left. `exit_code` is negative where a signal ended it."""

    exit_code: int
    stopped: Stop | None
    stdout: str
    stderr: str
    log: dict[str, str]
    duration_s: float


@dataclass(frozen=True, slots=True)
class _Streams:
    stdout: Pipe
    stderr: Pipe
    log: Pipe | None
    status: Pipe | None

    def given_away(self) -> None:
        for pipe in (self.stdout, self.stderr, self.log, self.status):
            if pipe is not None:
                pipe.given_away()


async def run(
    command: Command,
    *,
    cancel: asyncio.Event | None = None,
    halt: Halt | None = None,
    on_stdout: Sink | None = None,
) -> Finished:
    """Run `command` to its end or limit; afterwards all that it started is dead.

    Never waits for the end of a pipe, since a grandchild may hold it open. `on_stdout` sees every
    byte as it comes; `halt` ends the program with a watcher's reason. Raises CannotStart.
    """
    out, err, log, status = Tail(), Tail(), PopcornLog(), SandboxStatus()
    halt = halt or Halt()
    meter = Meter(command.max_output, halt)
    started = time.monotonic()
    with ExitStack() as stack:
        streams = _Streams(
            stack.enter_context(Pipe(_all(out.feed, meter.feed, on_stdout))),
            stack.enter_context(Pipe(_all(err.feed, meter.feed))),
            stack.enter_context(Pipe(log.feed)) if command.popcorn else None,
            stack.enter_context(Pipe(status.feed)) if _sandbox(command) else None,
        )
        child = await _start(command, streams, status)
        exit_code, stopped = await _supervise(child, command, cancel, halt)
    if _sandbox(command) and status.exit_code is None and stopped is None:
        raise CannotStart("the sandbox", one_line(err.text()) or f"it ended with {exit_code}")
    return Finished(
        exit_code=exit_code,
        stopped=stopped,
        stdout=out.text(),
        stderr=err.text(),
        log=log.values(),
        duration_s=time.monotonic() - started,
    )


def _all(*sinks: Sink | None) -> Sink:
    wanted = [sink for sink in sinks if sink is not None]

    def feed(chunk: bytes) -> None:
        for sink in wanted:
            sink(chunk)

    return feed


def _sandbox(command: Command) -> Sandbox | None:
    return command.cell.sandbox if command.cell is not None else None


async def _start(command: Command, streams: _Streams, status: SandboxStatus) -> Child:
    env = dict(command.env)
    inherited: tuple[int, ...] = ()
    if streams.log is not None:
        env["POPCORN_FD"] = str(streams.log.write_end)
        inherited = (streams.log.write_end,)
    start = Start(
        argv=command.argv,
        cwd=command.cwd,
        env=env,
        stdout=streams.stdout.write_end,
        stderr=streams.stderr.write_end,
        inherited=inherited,
    )
    sandbox = _sandbox(command)
    if command.cell is None or sandbox is None or streams.status is None:
        child = start_bare(start, command.cell)
        streams.given_away()
        return child
    boxed = Box(command.cell, sandbox, status, streams.status.write_end)
    return await start_boxed(start, boxed, streams.given_away)


async def _supervise(
    child: Child, command: Command, cancel: asyncio.Event | None, halt: Halt
) -> tuple[int, Stop | None]:
    watcher = asyncio.create_task(_watch(child, halt))
    try:
        stopped = await _until(child.exited, cancel, halt, command.wall_s)
        if stopped is not None:
            await _terminate(child, command.grace_s)
    finally:
        watcher.cancel()
        child.forget()
        child.kill()
        code = await asyncio.to_thread(child.bury, halt)
    return code, stopped or (halt.reason if code else None)


async def _watch(child: Child, halt: Halt) -> None:
    while halt.reason is None:
        await asyncio.sleep(LOOK_S)
        await asyncio.to_thread(child.excess, halt)


async def _until(
    exited: asyncio.Event, cancel: asyncio.Event | None, halt: Halt, wall_s: float
) -> Stop | None:
    waits = {asyncio.ensure_future(each.wait()) for each in (exited, cancel, halt) if each}
    try:
        await asyncio.wait(waits, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    if exited.is_set():
        return None
    if cancel is not None and cancel.is_set():
        return Stop.CANCELLED
    return halt.reason or Stop.TIME_LIMIT


async def _terminate(child: Child, grace_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(grace_s):
            # No event tells that the sandbox has forked its program.
            while not child.exited.is_set() and not child.terminate():  # noqa: ASYNC110
                await asyncio.sleep(FORK_S)
            await child.exited.wait()
    child.kill()
    with suppress(TimeoutError):
        await asyncio.wait_for(child.exited.wait(), KILL_WAIT_S)
