"""The one place that starts programs: own session, bounded streams, a wall limit, a sure end.

A later sandbox wraps `Command.argv` here and nowhere else.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from runner.leftovers import alive_in_group
from runner.pipe import Pipe
from runner.popcorn import PopcornLog
from runner.text import Tail

KILL_WAIT_S = 10.0
"""How long a killed process may take to vanish; one stuck in the driver can take longer."""
LOOK_S = 0.01
Sink = Callable[[bytes], None]


class Stop(StrEnum):
    """Why the runner ended a program before its own end."""

    TIME_LIMIT = "time-limit"
    CANCELLED = "cancelled"


class CannotStart(Exception):  # noqa: N818 - named for what happened
    """The program is not there or may not be executed."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"{program} cannot be started: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run; `env` is its whole environment, nothing is inherited.

    `wall_s` bounds its time; then, or on cancel, it gets SIGTERM and `grace_s` seconds to write
    what it has. `popcorn` gives it a pipe named by POPCORN_FD.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    wall_s: float
    grace_s: float = 2.0
    popcorn: bool = False


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


async def run(
    command: Command,
    *,
    cancel: asyncio.Event | None = None,
    on_stdout: Sink | None = None,
) -> Finished:
    """Run `command` to its end or limit; afterwards its whole process group is dead.

    Never waits for the end of a pipe, since a grandchild may hold it open. `on_stdout` sees every
    byte as it comes. Raises CannotStart.
    """
    out, err, log = Tail(), Tail(), PopcornLog()
    started = time.monotonic()
    with ExitStack() as stack:
        streams = _Streams(
            stack.enter_context(Pipe(_both(out.feed, on_stdout))),
            stack.enter_context(Pipe(err.feed)),
            stack.enter_context(Pipe(log.feed)) if command.popcorn else None,
        )
        exit_code, stopped = await _supervise(_start(command, streams), command, cancel)
    return Finished(
        exit_code=exit_code,
        stopped=stopped,
        stdout=out.text(),
        stderr=err.text(),
        log=log.values(),
        duration_s=time.monotonic() - started,
    )


def _both(first: Sink, second: Sink | None) -> Sink:
    if second is None:
        return first

    def feed(chunk: bytes) -> None:
        first(chunk)
        second(chunk)

    return feed


def _start(command: Command, streams: _Streams) -> subprocess.Popen[bytes]:
    env = dict(command.env)
    inherited: tuple[int, ...] = ()
    if streams.log is not None:
        env["POPCORN_FD"] = str(streams.log.write_end)
        inherited = (streams.log.write_end,)
    try:
        child = subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=streams.stdout.write_end,
            stderr=streams.stderr.write_end,
            pass_fds=inherited,
            start_new_session=True,
        )
    except OSError as error:
        raise CannotStart(command.argv[0], error.strerror or str(error)) from error
    for pipe in filter(None, (streams.stdout, streams.stderr, streams.log)):
        pipe.given_away()
    return child


async def _supervise(
    child: subprocess.Popen[bytes], command: Command, cancel: asyncio.Event | None
) -> tuple[int, Stop | None]:
    exited = asyncio.Event()
    pidfd = os.pidfd_open(child.pid)
    loop = asyncio.get_running_loop()
    loop.add_reader(pidfd, exited.set)
    try:
        stopped = await _until(exited, cancel, command.wall_s)
        if stopped is not None:
            await _terminate(child, exited, command.grace_s)
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        code = _bury(child)
        await _group_gone(child.pid)
    return code, stopped


async def _until(exited: asyncio.Event, cancel: asyncio.Event | None, wall_s: float) -> Stop | None:
    waits = {asyncio.ensure_future(event.wait()) for event in (exited, cancel) if event}
    try:
        await asyncio.wait(waits, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    if exited.is_set():
        return None
    return Stop.CANCELLED if cancel is not None and cancel.is_set() else Stop.TIME_LIMIT


async def _terminate(child: subprocess.Popen[bytes], exited: asyncio.Event, grace_s: float) -> None:
    # ncu alone gets the signal: it ends its target itself and still writes the report.
    with suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        await asyncio.wait_for(exited.wait(), grace_s)
    _kill_group(child.pid)
    with suppress(TimeoutError):
        await asyncio.wait_for(exited.wait(), KILL_WAIT_S)


def _kill_group(leader: int) -> None:
    # The leader is not reaped yet, so that the group's number cannot be anybody else's.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _bury(child: subprocess.Popen[bytes]) -> int:
    _kill_group(child.pid)
    try:
        return child.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL


async def _group_gone(leader: int) -> None:
    # Orphans die a moment after their signal.
    for _ in range(int(KILL_WAIT_S / LOOK_S)):
        if not _in_use(leader) or not alive_in_group(leader):
            return
        await asyncio.sleep(LOOK_S)


def _in_use(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
