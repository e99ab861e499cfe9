"""Starting one program, bare or in a sandbox, and ending everything that came of it."""

import asyncio
import itertools
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from select import POLLIN, poll

import msgspec

from runner.isolation import cgroup
from runner.isolation.cell import Account, Cell
from runner.isolation.halt import Halt, Stop
from runner.isolation.proctree import descendants, first_child, proportional_memory, usage
from runner.isolation.sandbox import Sandbox, bwrap_argv
from runner.jobs.leftovers import alive_in_group, end_leftovers
from runner.text import size_words

logger = logging.getLogger(__name__)
KILL_WAIT_S = 10.0
"""How long a killed process may take to vanish; one stuck in the driver can take longer."""
START_S = 20.0
GONE_S = 60.0
"""How long the next job waits for them all the same."""
LOOK_S = 0.01
SIGNALLED = 128
_NUMBERS = itertools.count()


class CannotStart(Exception):  # noqa: N818 - named for what happened
    """The program is not there, may not be executed, or its sandbox cannot be made."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"{program} cannot be started: {reason}")


class _Line(msgspec.Struct):
    """One line of what bubblewrap tells."""

    child: int | None = msgspec.field(default=None, name="child-pid")
    exit_code: int | None = msgspec.field(default=None, name="exit-code")


class SandboxStatus:
    """What bubblewrap tells through its status pipe, which the program inside does not have."""

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.init: int | None = None
        self.exit_code: int | None = None
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            said = msgspec.json.decode(line, type=_Line)
            self.init = self.init or said.child
            self.exit_code = said.exit_code
            self.told.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start, with the descriptors that it inherits. `env` is its whole environment."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdout: int
    stderr: int
    inherited: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A sandbox to start in, and the pipe by which it tells what became of it."""

    cell: Cell
    sandbox: Sandbox
    status: SandboxStatus
    status_fd: int


class Child:
    """A program that was started, with all that it may start itself.

    In a sandbox `init` is the first process of its PID namespace: no process of the namespace
    outlives it, whatever sessions or daemons it made.
    """

    def __init__(self, process: subprocess.Popen[bytes], cell: Cell | None) -> None:
        self.process = process
        self.exited = asyncio.Event()
        self._cell = cell
        self._group: cgroup.Group | None = None
        self._init: int | None = None
        self._init_fd: int | None = None
        self._fd = os.pidfd_open(process.pid)
        asyncio.get_running_loop().add_reader(self._fd, self.exited.set)

    def bound(self, cell: Cell, init: int | None = None) -> None:
        """Put the program into a control group of its own and set its limits. Blocking.

        Raises OSError, ProcessLookupError where it has ended.
        """
        if init is not None:
            self._init, self._init_fd = init, os.pidfd_open(init)
        confinement, pid = cell.confinement, init or self.process.pid
        if confinement.groups is not None:
            name = f"{confinement.mark}-{os.getpid()}-{next(_NUMBERS)}"
            bounds = confinement.bounds
            self._group = cgroup.create(confinement.groups, name, bounds.memory, bounds.processes)
            self._group.add(pid)
        if confinement.account is None:
            confinement.bounds.apply(pid)

    def terminate(self) -> bool:
        """Send SIGTERM to the program alone: ncu ends its target itself and writes the report.

        False where there is none yet: the sandbox begins, and the program is not forked.
        """
        program = self.process.pid if self._init is None else first_child(self._init)
        if program is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(program, signal.SIGTERM)
        return True

    def kill(self) -> None:
        """Kill all that the program started."""
        if self._init_fd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        else:
            # The leader is not reaped yet, so the group's number cannot be anybody else's.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self._group is not None:
            self._group.kill()

    def excess(self, halt: Halt) -> None:
        """Ask `halt` where memory or processes have passed their limit. Blocking."""
        if self._cell is None:
            return
        bounds = self._cell.confinement.bounds
        if self._group is not None:
            starved, crowded = self._group.oom_kills() > 0, self._group.forks_denied() > 0
        else:
            pids = descendants(self._init or self.process.pid)
            taken = usage(pids)
            crowded = taken.threads > bounds.processes
            # Forked processes share most pages: those that look like too many are counted well.
            starved = taken.memory > bounds.memory and proportional_memory(pids) > bounds.memory
        if starved:
            halt.ask(Stop.MEMORY_LIMIT, size_words(bounds.memory))
        if crowded:
            halt.ask(Stop.PROCESS_LIMIT, f"{bounds.processes:,}")

    def bury(self, halt: Halt) -> int:
        """Wait until everything that was killed is gone; return the exit status. Blocking.

        Asks `halt` where the kernel ended a process for its memory.
        """
        code = self._reap()
        if self._group is not None:
            self.excess(halt)
        gone = self._gone()
        if self._group is not None:
            gone = self._group.remove() and gone
        if not gone:
            logger.error("processes of a job do not end: is the driver stuck?")
        return code

    def _gone(self) -> bool:
        """Wait for the end of everything, told by the kernel where there is a namespace."""
        if self._init_fd is not None:
            gone = _ended(self._init_fd)
            os.close(self._init_fd)
            return gone
        leader = self.process.pid
        gone = _until(lambda: not (_in_use(leader) and alive_in_group(leader)))
        return (self._cell is None or end_leftovers(self._cell.root)) and gone

    def forget(self) -> None:
        """Take the program off the loop; a second time does nothing."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _reap(self) -> int:
        try:
            code = self.process.wait(KILL_WAIT_S)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        # bubblewrap tells a signal as shells do.
        told = self._init is not None and SIGNALLED < code < SIGNALLED + signal.NSIG
        return SIGNALLED - code if told else code


def start_bare(start: Start, cell: Cell | None) -> Child:
    """Start a program that sees this machine. Raises CannotStart."""
    child = Child(_spawn(start, start.inherited), cell)
    try:
        if cell is not None:
            child.bound(cell)
    except ProcessLookupError:
        return child  # it has ended, which is told like any other end
    except OSError as error:
        _end_at_once(child)
        raise CannotStart(start.argv[0], f"its limits cannot be set ({error})") from error
    return child


async def start_boxed(start: Start, box: Box, started: Callable[[], None]) -> Child:
    """Start a program in its sandbox; it begins once its limits are set. Raises CannotStart.

    `started` is called when a process has the descriptors.
    """
    held, gate = os.pipe()
    confinement = box.cell.confinement
    program = confinement.bounds.command(start.argv) if confinement.account else start.argv
    argv = bwrap_argv(
        box.sandbox, program, start.cwd, start.env, status_fd=box.status_fd, block_fd=held
    )
    # By HOME a later runner finds what this one left, should it be killed.
    mark = {"HOME": str(box.cell.root / "home")}
    outer = replace(start, argv=argv, cwd=Path("/"), env=mark)
    inherited = (*start.inherited, box.status_fd, held)
    try:
        child = Child(_spawn(outer, inherited, confinement.account), box.cell)
        started()
        await _let_in(child, box, gate)
    finally:
        os.close(held)
        os.close(gate)
    return child


async def _let_in(child: Child, box: Box, gate: int) -> None:
    let_in = False
    waits = [asyncio.ensure_future(one.wait()) for one in (box.status.told, child.exited)]
    try:
        await asyncio.wait(waits, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
        if box.status.init is None and not child.exited.is_set():
            raise CannotStart("the sandbox", f"it did not begin in {START_S:.0f} s")
        # Where it is gone already, its set-up failed, and bubblewrap has said why.
        with suppress(ProcessLookupError):
            if box.status.init is not None:
                child.bound(box.cell, box.status.init)
                os.write(gate, b"1")
        let_in = True
    except OSError as error:
        raise CannotStart("the sandbox", f"its limits cannot be set ({error})") from error
    finally:
        for wait in waits:
            wait.cancel()
        if not let_in:
            # Before the gate is closed, which would let the program in.
            _end_at_once(child)


def _end_at_once(child: Child) -> None:
    child.forget()
    child.kill()
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, signal.SIGKILL)
    child.bury(Halt())
    child.exited.set()


def _spawn(
    start: Start, inherited: tuple[int, ...], account: Account | None = None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            start.argv,
            cwd=start.cwd,
            env=start.env,
            stdin=subprocess.DEVNULL,
            stdout=start.stdout,
            stderr=start.stderr,
            pass_fds=inherited,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=() if account else None,
        )
    except OSError as error:
        raise CannotStart(start.argv[0], error.strerror or str(error)) from error


def _ended(pidfd: int) -> bool:
    """Wait for the end of a process that is not our child."""
    waiting = poll()
    waiting.register(pidfd, POLLIN)
    return bool(waiting.poll(GONE_S * 1_000))


def _until(true: Callable[[], bool]) -> bool:
    for _ in range(int(GONE_S / LOOK_S)):
        if true():
            return True
        time.sleep(LOOK_S)
    return False


def _in_use(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
