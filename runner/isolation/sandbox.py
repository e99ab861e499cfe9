"""The bubblewrap command line, built from typed values. Pure: it asks the machine nothing.

The root of a program's file system is an empty, read-only tmpfs; only what is named here is in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HOSTNAME = "runner"
_SHM = "/dev/shm"  # noqa: S108 - the name inside the sandbox


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or folder of this machine and where a program sees it."""

    source: Path
    target: Path
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What every program of a runner sees of the machine.

    `links` are symbolic links with their text (`/bin` to `usr/bin`); `hidden` files and folders lie
    inside of what `read_only` shows and appear empty. `kernel` covers what is in /proc beside
    processes: to root's user id much of it is writable, also in a user namespace. With
    `capabilities` there is no user namespace, and the programs keep those of root's that are named
    (`CAP_SYS_ADMIN`). Without `nested_namespaces` they cannot make user namespaces of their own,
    the way to most of the kernel's attack surface.
    """

    bwrap: str
    read_only: tuple[Path, ...] = ()
    links: tuple[tuple[Path, str], ...] = ()
    hidden: tuple[Bind, ...] = ()
    hidden_folders: tuple[Path, ...] = ()
    kernel: tuple[Bind, ...] = ()
    capabilities: tuple[str, ...] = ()
    nested_namespaces: bool = False
    shm_bytes: int = 1_073_741_824


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What one program sees: the machine, its job's folders, the devices of its GPU."""

    machine: Machine
    binds: tuple[Bind, ...] = ()
    devices: tuple[Path, ...] = ()


def bwrap_argv(
    sandbox: Sandbox,
    argv: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
    *,
    status_fd: int,
    block_fd: int,
) -> tuple[str, ...]:
    """Return the command that runs `argv` in the sandbox.

    `status_fd` gets JSON lines: first the pid of the namespace's init, at the end the exit status.
    The program starts when `block_fd` has something to read.
    """
    return (
        sandbox.machine.bwrap,
        *_namespaces(sandbox.machine),
        # First, since a program of the machine's may lie in /tmp too.
        *(word for bind in sandbox.binds for word in _bind(bind)),
        *_system(sandbox.machine),
        *_devices(sandbox),
        *("--remount-ro", "/", "--chdir", str(cwd), "--clearenv"),
        *(word for name, value in env.items() for word in ("--setenv", name, value)),
        *("--json-status-fd", str(status_fd), "--block-fd", str(block_fd)),
        "--",
        *argv,
    )


def _namespaces(machine: Machine) -> Iterator[str]:
    if machine.capabilities:
        yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
        yield "--unshare-cgroup-try"
    else:
        yield "--unshare-all"
        if not machine.nested_namespaces:
            yield from ("--unshare-user", "--disable-userns")
    yield from ("--die-with-parent", "--new-session", "--hostname", HOSTNAME)
    yield from ("--cap-drop", "ALL")
    for name in machine.capabilities:
        yield from ("--cap-add", name)


def _system(machine: Machine) -> Iterator[str]:
    for path in machine.read_only:
        yield from ("--ro-bind", str(path), str(path))
    for path, text in machine.links:
        yield from ("--symlink", text, str(path))
    for folder in machine.hidden_folders:
        yield from ("--tmpfs", str(folder), "--remount-ro", str(folder))
    for bind in machine.hidden:
        yield from _bind(bind)
    yield from ("--proc", "/proc")
    for bind in machine.kernel:
        yield from _bind(bind)


def _devices(sandbox: Sandbox) -> Iterator[str]:
    yield from ("--dev", "/dev")
    for device in sandbox.devices:
        yield from ("--dev-bind", str(device), str(device))
    yield from ("--size", str(sandbox.machine.shm_bytes), "--tmpfs", _SHM, "--remount-ro", "/dev")


def _bind(bind: Bind) -> tuple[str, str, str]:
    return ("--bind" if bind.writable else "--ro-bind", str(bind.source), str(bind.target))
