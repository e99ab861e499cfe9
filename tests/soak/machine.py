"""A machine with two GPUs on which a real `ncubot runner` is started and killed."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from runner.isolation import cgroup
from runner_client.address import RunnerAddress
from runner_client.secret import Secret
from tests.standin.tools import Tools

PROGRAM = (sys.executable, "-c", "from cli.main import main; main()", "runner")
TOKEN = "soak"
BARE = {"NCUBOT_RUNNER_SANDBOX": "none", "NCUBOT_RUNNER_CGROUPS": "false"}
SMI = """#!/bin/sh
case "$*" in
*uuid*) printf '0, GPU-aaaa, NVIDIA H200\\n1, GPU-bbbb, NVIDIA H200\\n' ;;
*) printf 'NVIDIA H200, 580.0\\n' ;;
esac
"""


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Machine:
    """The folder of a runner, its address through all restarts, and its process."""

    tools: Tools
    folder: Path
    port: int = field(default_factory=free_port)
    process: asyncio.subprocess.Process | None = None

    @property
    def data(self) -> Path:
        """Return the runner's data folder."""
        return self.folder / "data"

    @property
    def address(self) -> RunnerAddress:
        """Return where clients find the runner."""
        url = f"http://127.0.0.1:{self.port}"
        return RunnerAddress(name="soak", url=url, gpu="H200", token=Secret(TOKEN))

    async def start(self, *, bare: bool = False) -> None:
        """Start the runner without waiting for it.

        A `bare` one has neither sandbox nor control groups, and must find leftovers by itself.
        """
        _write_program(self.folder / "smi" / "nvidia-smi", SMI)
        log = (self.folder / "log").open("ab")
        with log:
            self.process = await asyncio.create_subprocess_exec(
                *PROGRAM,
                *("--host", "127.0.0.1", "--port", str(self.port), "--data", str(self.data)),
                *("--gpu", "H200", "--ncu", str(self.tools.ncu), "--nvcc", str(self.tools.nvcc)),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
                env=self._environment() | (BARE if bare else {}),
            )

    async def kill(self) -> None:
        """Kill the runner as the kernel or an operator would, without a word."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """End the runner in good order; return its exit status."""
        return await self._end(signal.SIGTERM)

    def programs(self) -> list[int]:
        """Return the processes that belong to this machine's jobs, by all that could tell it."""
        return [pid for pid in _pids() if _mentions(pid, os.fsencode(self.data / "work"))]

    def groups(self) -> list[Path]:
        """Return the control groups that belong to this machine's runner."""
        mark = cgroup.mark_of(self.data)
        return [path for path in cgroup.MOUNT.rglob(f"*{mark}*") if path.is_dir()]

    async def _end(self, number: int) -> int:
        if self.process is None:
            return 0
        with suppress(ProcessLookupError):
            self.process.send_signal(number)
        code = await self.process.wait()
        self.process = None
        return code

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "PATH": f"{self.folder / 'smi'}:{os.environ['PATH']}",
            "NCUBOT_RUNNER_TOKEN": TOKEN,
            "NCUBOT_RUNNER_SELF_TEST": "false",
            "NCUBOT_RUNNER_READ_ONLY": self.tools.variable,
            "NCUBOT_RUNNER_GRACE_S": "1",
            # Here it is the kills that take the runner down, not the jobs.
            "NCUBOT_RUNNER_MAX_STARTS": "1000",
        }


def _write_program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _pids() -> Iterator[int]:
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            yield int(path.name)


def _mentions(pid: int, folder: bytes) -> bool:
    process = Path("/proc") / str(pid)
    with suppress(OSError):
        if b"Z" in process.joinpath("stat").read_bytes().rpartition(b")")[2].split()[:1]:
            return False
        told = process.joinpath("environ").read_bytes() + process.joinpath("cmdline").read_bytes()
        return folder in told + os.fsencode(process.joinpath("cwd").readlink())
    return False
