"""Where a program that touches a submission is locked up: types only."""

import resource
from dataclasses import dataclass
from pathlib import Path

from runner.isolation import cgroup
from runner.isolation.sandbox import Bind, Machine, Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Upper bounds of one program: bytes, counts, seconds of CPU time a process."""

    memory: int
    processes: int
    open_files: int
    file_bytes: int
    cpu_s: int

    @property
    def limits(self) -> dict[str, int]:
        """Return the kernel's limits by the names that prlimit(1) has for them."""
        # RLIMIT_AS is left alone: CUDA reserves more addresses than any machine has memory.
        return {
            "core": 0,
            "cpu": self.cpu_s,
            "fsize": self.file_bytes,
            "nofile": self.open_files,
            "nproc": self.processes,
        }

    def command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command that limits itself before it becomes `argv`.

        For another user's process: to limit that from outside takes CAP_SYS_RESOURCE, which root
        of a container often has not.
        """
        options = (f"--{name}={value}:{value}" for name, value in self.limits.items())
        return ("prlimit", *options, "--", *argv)

    def apply(self, pid: int) -> None:
        """Set the kernel's limits of a process of our own that is about to start the program."""
        for name, wanted in self.limits.items():
            kind = getattr(resource, f"RLIMIT_{name.upper()}")
            _, hard = resource.prlimit(pid, kind)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.prlimit(pid, kind, (value, value))


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What stands around every program that touches a submission.

    `machine` is None where the operator runs without a sandbox, `groups` where no control group
    can be made. `account` is the user that starts the sandbox where it is not the runner's own.
    `mark` tells this runner's control groups from another's.
    """

    machine: Machine | None
    bounds: Bounds
    groups: cgroup.Parent | None = None
    account: Account | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One program's place: its confinement, its job's folder and what it sees of it."""

    confinement: Confinement
    root: Path
    binds: tuple[Bind, ...] = ()
    devices: tuple[Path, ...] = ()

    @property
    def sandbox(self) -> Sandbox | None:
        """Return what the program sees, or None where it sees the machine."""
        machine = self.confinement.machine
        if machine is None:
            return None
        return Sandbox(machine=machine, binds=self.binds, devices=self.devices)
