"""What can be checked quickly on this machine, one finding each; nothing here raises."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.capture import command
from runner.capture.environment import base_environment
from runner.health.system import ASK_TIMEOUT_S, ask, find_gpus, parse_ncu_version
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.service.tls import BadCertificate, fingerprint, server_context
from runner.settings import RunnerSettings
from runner.text import one_line
from runner_client.wire import Finding, Level

Check = Callable[[RunnerSettings], Awaitable[Finding]]
_MIG = ("--query-gpu=mig.mode.current", "--format=csv,noheader")
_TORCH = (
    "import torch; print('torch', torch.__version__, 'for CUDA', torch.version.cuda);"
    "print('devices', torch.cuda.device_count() if torch.cuda.is_available() else 0)"
)


async def quick_findings(settings: RunnerSettings, *, replay: bool = False) -> tuple[Finding, ...]:
    """Run every check of this module at once; for a `replay` only those that need no GPU."""
    await asyncio.to_thread(_make_folder, settings.folder)
    checks = OF_EVERY_ENGINE if replay else OF_A_GPU + OF_EVERY_ENGINE
    return tuple(await asyncio.gather(*(check(settings) for check in checks)))


def good(check: str, text: str) -> Finding:
    """Return a finding that asks for nothing."""
    return Finding(check=check, level=Level.OK, text=one_line(text))


def doubt(check: str, text: str, mend: str) -> Finding:
    """Return a finding that keeps nothing from running."""
    return Finding(check=check, level=Level.WARNING, text=one_line(text), mend=one_line(mend))


def bad(check: str, text: str, mend: str) -> Finding:
    """Return a finding that keeps this runner from profiling."""
    return Finding(check=check, level=Level.PROBLEM, text=one_line(text), mend=one_line(mend))


async def gpu(settings: RunnerSettings) -> Finding:
    """Ask the driver for its GPUs."""
    gpus = await find_gpus(_home(settings))
    if not gpus.names:
        mend = "install NVIDIA's driver, and check that `nvidia-smi` lists a GPU"
        return bad("gpu", "nvidia-smi lists no GPU", mend)
    names = ", ".join(dict.fromkeys(gpus.names))
    return good("gpu", f"{len(gpus.names)} x {names}, driver {gpus.driver}")


async def mig(settings: RunnerSettings) -> Finding:
    """Tell whether the GPU is cut into slices, whose shared units have no counters."""
    modes = (await ask(_home(settings), "nvidia-smi", *_MIG)).split()
    if not modes:
        return good("mig", "the driver tells nothing of it")
    if "Enabled" not in modes:
        return good("mig", "off, the GPU is whole")
    mend = "switch MIG off for full reports: `nvidia-smi -mig 0`"
    return doubt("mig", "on: units that slices share give no counters", mend)


async def ncu(settings: RunnerSettings) -> Finding:
    """Start ncu far enough that it tells its version."""
    said = await try_program(_home(settings), settings.ncu, "--version")
    version = parse_ncu_version(said.stdout) if isinstance(said, Finished) else ""
    if not version:
        mend = "install Nsight Compute, or name its program in the setting `ncu`"
        return bad("ncu", f"`{settings.ncu}` does not run ({_why(said)})", mend)
    return good("ncu", f"Nsight Compute {version}, `{_place(settings.ncu)}`")


async def python(settings: RunnerSettings) -> Finding:
    """Import PyTorch with the evaluators' interpreter and let it look for a GPU."""
    said = await try_program(_home(settings), settings.python, "-c", _TORCH)
    mend = "name an interpreter with a CUDA build of PyTorch in the setting `python`"
    if not isinstance(said, Finished) or said.exit_code:
        return bad("python", f"`{settings.python}` cannot import torch ({_why(said)})", mend)
    banner, _, devices = said.stdout.partition("\n")
    if devices.split()[-1:] in ([], ["0"]):
        return bad("python", f"{banner} sees no GPU", mend)
    return good("python", f"{banner} sees {devices.split()[-1]} GPU, `{_place(settings.python)}`")


async def nvcc(settings: RunnerSettings) -> Finding:
    """Look for the compiler, which only CUDA problems need."""
    said = await try_program(_home(settings), settings.nvcc, "--version")
    if isinstance(said, Finished) and not said.exit_code:
        lines = [line for line in said.stdout.splitlines() if "release" in line]
        return good("nvcc", lines[0] if lines else f"`{_place(settings.nvcc)}`")
    mend = "install the CUDA toolkit, or name its compiler in the setting `nvcc`"
    return doubt("nvcc", f"`{settings.nvcc}` does not run: problems in CUDA C++ fail", mend)


async def data(settings: RunnerSettings) -> Finding:
    """Write a file where jobs are kept."""
    reason = await asyncio.to_thread(_unwritable, settings.folder)
    if reason:
        mend = "give the folder to the runner's user, or set `data`"
        return bad("data", f"{settings.folder} cannot be written ({reason})", mend)
    return good("data", f"{settings.folder} is writable")


async def disk(settings: RunnerSettings) -> Finding:
    """Compare the free space with what reports can take."""
    try:
        free = (await asyncio.to_thread(shutil.disk_usage, settings.folder)).free
    except OSError as error:
        return bad("disk", f"{settings.folder}: {error.strerror}", "set `data`")
    text = f"{free / 1e9:.1f} GB free at {settings.folder}"
    if free < settings.min_free_bytes:
        mend = f"free some space: {settings.min_free_bytes / 1e9:.1f} GB must stay free"
        return bad("disk", text, mend)
    if free < settings.min_free_bytes + settings.max_job_bytes:
        mend = f"free some space: one job may take {settings.max_job_bytes / 1e9:.1f} GB"
        return doubt("disk", text, mend)
    return good("disk", text)


async def clocks(_: RunnerSettings) -> Finding:
    """Tell what becomes of the GPU's clocks under ncu."""
    text = "ncu leaves them as they are" if command.CLOCK_CONTROL == "none" else "ncu locks them"
    return good("clocks", f"{text} (--clock-control {command.CLOCK_CONTROL})")


async def network(settings: RunnerSettings) -> Finding:
    """Tell how a bot reaches this runner, and by which certificate."""
    place = f"{settings.host}:{settings.port}"
    try:
        context = await asyncio.to_thread(server_context, settings)
    except BadCertificate as error:
        return bad("network", str(error), "mend tls_cert and tls_key, or unset both")
    if context is not None and settings.tls_cert is not None:
        pin = await asyncio.to_thread(fingerprint, settings.tls_cert)
        return good("network", f"https on {place}, certificate SHA-256 {pin}")
    if settings.on_loopback:
        return good("network", f"http on {place}, this machine only")
    mend = "set tls_cert and tls_key, or put a proxy that speaks https before it"
    return doubt("network", f"plain http on {place}: the token can be read on its way", mend)


OF_A_GPU: tuple[Check, ...] = (gpu, mig, ncu, python, nvcc, clocks)
OF_EVERY_ENGINE: tuple[Check, ...] = (data, disk, network)


async def try_program(folder: Path, *argv: str) -> Finished | CannotStart:
    """Run a program of ours to its end; the exception is returned where it cannot be started.

    What it leaves in its HOME, as CUDA does, goes with a folder that is made below `folder`.
    """
    try:
        with TemporaryDirectory(dir=folder, prefix="ask-", ignore_cleanup_errors=True) as scratch:
            home = Path(scratch)
            env = base_environment(home, home)
            return await run(Command(argv=argv, cwd=home, env=env, wall_s=ASK_TIMEOUT_S))
    except OSError as error:
        return CannotStart(argv[0], error.strerror or str(error))
    except CannotStart as error:
        return error


def _home(settings: RunnerSettings) -> Path:
    """Return a folder to write to, so that a bad `data` is told by its own check alone."""
    folder = settings.folder
    usable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return folder if usable else Path(tempfile.gettempdir())


def _why(said: Finished | CannotStart) -> str:
    if isinstance(said, CannotStart):
        return str(said)
    if said.stopped is not None:
        return f"it did not end in {ASK_TIMEOUT_S:.0f} s"
    lines = (said.stderr or said.stdout).strip().splitlines()
    return one_line(lines[-1], 300) if lines else f"it ended with status {said.exit_code}"


def _place(program: str) -> str:
    return shutil.which(program) or program


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # the check named `data` says it


def _unwritable(folder: Path) -> str:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""
