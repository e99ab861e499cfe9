"""What machine this is, asked from the programs that know; blank where one is absent."""

import asyncio
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.capture.environment import base_environment
from runner.isolation.process import CannotStart, Command, run
from runner.text import one_line
from runner_client.wire import System

ASK_TIMEOUT_S = 30.0
_TORCH = "import torch; print('torch-version', torch.__version__)"
_QUERY = ("--query-gpu=name,driver_version", "--format=csv,noheader")


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs that the driver lists, and its version."""

    names: tuple[str, ...]
    driver: str


async def ask(folder: Path, *argv: str) -> str:
    """Return a program's standard output, or an empty text where it fails in any way.

    What it leaves in its HOME, as CUDA does, goes with a folder that is made below `folder`.
    """
    try:
        with TemporaryDirectory(dir=folder, prefix="ask-", ignore_cleanup_errors=True) as scratch:
            home = Path(scratch)
            env = base_environment(home, home)
            finished = await run(Command(argv=argv, cwd=home, env=env, wall_s=ASK_TIMEOUT_S))
    except (CannotStart, OSError):
        return ""
    return finished.stdout if finished.exit_code == 0 and finished.stopped is None else ""


async def find_gpus(folder: Path) -> Gpus:
    """Ask the driver for its GPUs."""
    return parse_gpus(await ask(folder, "nvidia-smi", *_QUERY))


async def describe(folder: Path, ncu: str, python: str) -> System:
    """Put together what the manifest says of this machine."""
    gpus, ncu_banner, torch = await asyncio.gather(
        find_gpus(folder), ask(folder, ncu, "--version"), ask(folder, python, "-c", _TORCH)
    )
    return System(
        gpu=gpus.names[0] if gpus.names else "",
        device_count=len(gpus.names),
        driver=gpus.driver,
        ncu_version=parse_ncu_version(ncu_banner),
        cpu=await asyncio.to_thread(cpu_name),
        platform=one_line(platform.platform()),
        torch=_found(r"^torch-version (\S+)", torch),
        hostname=one_line(platform.node()),
    )


def parse_gpus(listing: str) -> Gpus:
    """Read nvidia-smi's `name, driver` lines."""
    rows = [line.rsplit(",", 1) for line in listing.splitlines() if "," in line]
    names = tuple(one_line(row[0]) for row in rows)
    return Gpus(names, one_line(rows[0][1]) if rows else "")


def parse_ncu_version(banner: str) -> str:
    """Return `2025.3.1` out of ncu's banner."""
    return _found(r"^Version (\d+(?:\.\d+)+)", banner)


def competition_name(gpu: str) -> str:
    """Return a GPU's name as competitions write it: `NVIDIA H100 80GB HBM3` is `H100`."""
    words = [w for w in gpu.split() if w not in {"NVIDIA", "Tesla", "GeForce", "Quadro"}]
    if words[:1] == ["RTX"]:
        return "".join(words[:2])
    return re.split(r"[-_]", words[0])[0] if words else ""


def cpu_name() -> str:
    """Return the processor's name. Blocking."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return one_line(platform.processor())
    return _found(r"^model name\s*:\s*(.+)$", text) or f"{os.cpu_count()} processors"


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    return one_line(match[1]) if match else ""
