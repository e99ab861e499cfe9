"""What bounds the programs of a runner: sandbox, control group, resource limits; settled once."""

import asyncio
import logging
import os
import pwd
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from runner.capture.environment import base_environment
from runner.health.system import ASK_TIMEOUT_S, ask
from runner.isolation import cgroup
from runner.isolation.cell import Account, Bounds, Cell, Confinement
from runner.isolation.process import CannotStart, Command, run
from runner.isolation.sandbox import Bind, Machine
from runner.isolation.visible import SETTINGS_FILE, gpu_devices, machine, program_paths
from runner.settings import RunnerSettings, SandboxName
from runner.text import one_line
from runner_client.wire import LimitsInForce

logger = logging.getLogger(__name__)
_TRIAL = Path("/job")
_PREFIXES = "import sys; print(sys.prefix); print(sys.base_prefix); print(sys.executable)"
# An older bubblewrap has no such option, and some kernels let nobody count user namespaces.
_NO_NESTED = ("--unshare-user", "--disable-userns", "--ro-bind", "/", "/")


async def confine(settings: RunnerSettings) -> Confinement:
    """Find out what this machine can enforce, and what programs must see of it."""
    groups = await asyncio.to_thread(cgroup.find) if settings.cgroups else None
    mark = cgroup.mark_of(settings.folder)
    if groups is not None:
        await asyncio.to_thread(cgroup.sweep, groups, mark)
    sandboxed = settings.sandbox is SandboxName.BUBBLEWRAP
    found = Confinement(
        machine=await _machine(settings) if sandboxed else None,
        bounds=bounds_of(settings),
        groups=groups,
        mark=mark,
    )
    if sandboxed and groups is None and os.geteuid() == 0:
        found = await _as_another(settings, found)
    if not sandboxed:
        logger.warning("no sandbox: submissions run with this runner's own rights")
    logger.debug("limits of a program: %s", limits_in_force(settings, found))
    return found


async def _as_another(settings: RunnerSettings, found: Confinement) -> Confinement:
    """Let another user than root start the sandbox, whose processes the kernel counts."""
    account = account_of(settings.sandbox_user)
    if account is not None:
        other = replace(found, account=account)
        reason = await trial(settings, other)
        if not reason:
            return other
        logger.debug("%s cannot start a sandbox: %s", account.name, reason)
    return found


async def trial(settings: RunnerSettings, confinement: Confinement) -> str:
    """Start the evaluators' interpreter as a job would; return why it fails, or nothing.

    Where there is none, which is another fault, any program will do.
    """
    try:
        await asyncio.to_thread(settings.folder.mkdir, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="try-", dir=settings.folder) as folder:
            finished = await run(_nothing(settings, confinement, Path(folder)))
    except (OSError, CannotStart) as error:
        return one_line(str(error))
    if finished.exit_code:
        return one_line(finished.stderr) or f"it ended with status {finished.exit_code}"
    return ""


def _nothing(settings: RunnerSettings, confinement: Confinement, folder: Path) -> Command:
    if confinement.account is not None:
        os.chown(folder, confinement.account.uid, confinement.account.gid)
    place = folder if confinement.machine is None else _TRIAL
    python = shutil.which(settings.python)
    return Command(
        argv=(python, "-c", "pass") if python else ("true",),
        cwd=place,
        env=base_environment(place, place),
        wall_s=ASK_TIMEOUT_S,
        cell=Cell(
            confinement=confinement, root=folder, binds=(Bind(folder, _TRIAL, writable=True),)
        ),
    )


def bounds_of(settings: RunnerSettings) -> Bounds:
    """Take the bounds out of the settings."""
    return Bounds(
        memory=settings.max_memory_bytes or machine_memory() * 3 // 4,
        processes=settings.max_processes,
        open_files=settings.max_open_files,
        file_bytes=settings.max_job_bytes,
        cpu_s=settings.max_cpu_s,
    )


def limits_in_force(settings: RunnerSettings, confinement: Confinement) -> LimitsInForce:
    """Put into words and figures what holds for every program."""
    bounds, account = confinement.bounds, confinement.account
    return LimitsInForce(
        sandbox=settings.sandbox.value,
        enforced_by=_enforced_by(confinement),
        user=account.name if account else _user_name(os.geteuid()),
        memory_bytes=bounds.memory,
        processes=bounds.processes,
        open_files=bounds.open_files,
        file_bytes=bounds.file_bytes,
        job_bytes=settings.max_job_bytes,
        shm_bytes=settings.max_shm_bytes if confinement.machine else 0,
        cpu_s=bounds.cpu_s,
        capabilities=settings.keep_capabilities,
    )


def problems_of(settings: RunnerSettings, confinement: Confinement) -> tuple[str, ...]:
    """Return what keeps this runner from containing a submission. Blocking."""
    if confinement.machine is None:
        return ()
    if shutil.which(settings.bwrap) is None:
        mend = "install bubblewrap, or set sandbox to none to run submissions with our own rights"
        return (f"`{settings.bwrap}` was not found: {mend}",)
    return ()


def account_of(name: str) -> Account | None:
    """Look a user up. Blocking."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(found.pw_name, found.pw_uid, found.pw_gid)


def machine_memory() -> int:
    """Return this machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def devices_of(confinement: Confinement, gpu: str) -> tuple[Path, ...]:
    """Return the device files that a job on `gpu` sees. Blocking."""
    return gpu_devices(gpu) if confinement.machine is not None else ()


async def _machine(settings: RunnerSettings) -> Machine:
    folder = settings.folder if settings.folder.is_dir() else Path("/")
    said = await ask(folder, settings.python, "-c", _PREFIXES)
    prefixes = tuple(Path(line) for line in said.splitlines())
    nested = await ask(folder, settings.bwrap, *_NO_NESTED, "echo", "fine") != "fine\n"
    return await asyncio.to_thread(_seen, settings, prefixes, nested=nested)


def _seen(settings: RunnerSettings, prefixes: tuple[Path, ...], *, nested: bool) -> Machine:
    python = shutil.which(settings.python)
    tools = (settings.ncu, settings.nvcc, settings.nsys)
    programs = [path for tool in tools for path in program_paths(tool)]
    return machine(
        settings.bwrap,
        (*prefixes, *((Path(python),) if python else ()), *programs, *settings.read_only),
        hide=(settings.folder, Path(SETTINGS_FILE).absolute()),
        capabilities=settings.keep_capabilities,
        nested_namespaces=nested,
        shm_bytes=settings.max_shm_bytes,
    )


def _enforced_by(confinement: Confinement) -> str:
    if confinement.groups is not None:
        return f"cgroup v{confinement.groups.version}"
    root = os.geteuid() == 0 and confinement.account is None
    return "watch" if root else "rlimit and watch"


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
