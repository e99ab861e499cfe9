"""How a machine becomes a node: its doctor's word first, then Ray's own program in its place."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from runner.cluster import record, rooms
from runner.cluster.names import PREFIX, QUIET
from runner.cluster.worker import ROOMS
from runner.health.census import CHECK as CENSUS
from runner.health.doctor import examine
from runner.health.gpus import ANY
from runner.local import LocalEngine
from runner.settings import EngineName, RunnerSettings, SandboxName
from runner_client.wire import Finding, Level

SECRETS = ("NCUBOT_", "DISCORD_TOKEN")
"""Beginnings of variables that are the bot's or the runner's own."""
SPARE = 2
"""Worker processes that Ray keeps ready beyond one for each GPU."""
OPEN_TO_ALL = (
    "Ray runs whatever reaches its ports: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH first, "
    "on every machine alike"
)
NO_SANDBOX = "a node of a cluster needs a sandbox: whoever reaches Ray's ports commands all of it"


_RAY = (sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start")
_END = ("--disable-usage-stats", "--block")


class CannotJoin(Exception):  # noqa: N818 - named for what happened
    """This machine does not become a node; the text says why."""


@dataclass(frozen=True, slots=True)
class Start:
    """Ray's program and its environment, to run in place of this one."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


async def worker(settings: RunnerSettings, address: str) -> tuple[Start, tuple[Finding, ...]]:
    """Check this machine by a real profile, and return how it joins with what was found.

    Raises CannotJoin, OSError.
    """
    _check_token()
    if settings.sandbox is SandboxName.NONE:
        raise CannotJoin(NO_SANDBOX)
    local = msgspec.structs.replace(settings, engine=EngineName.LOCAL)
    folder = local.folder
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    engine = LocalEngine(local)
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=folder) as scratch:
        found = await examine(engine, local, Path(scratch)) if local.self_test else ()
    problems = [one.text for one in found if one.level is Level.PROBLEM]
    problems = problems or list(await engine.problems())
    if problems:
        raise CannotJoin("; ".join(problems))
    gpu, gpus = await engine.gpu(), await engine.gpus()
    named = msgspec.structs.replace(local, gpu=gpu, data=folder)
    await asyncio.to_thread(rooms.clear, folder / ROOMS)
    census = next((one for one in found if one.check == CENSUS), None)
    known = record.NodeRecord(named, await engine.system(), census)
    file = await asyncio.to_thread(record.write, known, folder)
    return _worker(address, gpu, gpus, file), found


def head(host: str, port: int) -> Start:
    """Return how the cluster's head starts: no work is done on it, nothing is served on the web.

    Raises CannotJoin.
    """
    _check_token()
    options = (f"--node-ip-address={host}", f"--port={port}", "--num-cpus=2", "--num-gpus=0")
    return Start((*_RAY, "--head", *options, "--include-dashboard=false", *_END), _environment())


def _worker(address: str, gpu: str, gpus: tuple[str, ...], file: Path) -> Start:
    options = (
        f"--address={address}",
        f"--num-cpus={len(gpus) + SPARE}",
        f"--num-gpus={len(gpus)}",
        f"--resources={json.dumps({PREFIX + gpu: len(gpus)})}",
        *_END,
    )
    env = _environment() | {record.VARIABLE: str(file)}
    if gpus != (ANY,):
        env |= {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}
    return Start((*_RAY, *options), env)


def _check_token() -> None:
    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise CannotJoin(OPEN_TO_ALL)


def _environment() -> dict[str, str]:
    """Return this process's environment without the runner's secrets.

    Ray kills the greediest worker where memory runs out; here control groups and the kernel do.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SECRETS)}
    return kept | dict(QUIET) | {"RAY_memory_monitor_refresh_ms": "0"}
