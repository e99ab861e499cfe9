"""Programs that run beside a benchmark."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner_client.address import RunnerAddress
from runner_client.secret import Secret

TOKEN = "a-token-of-the-benchmark"  # noqa: S105 - opens nothing but this stand-in
SETTINGS = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).resolve().parents[1])}


@contextmanager
def started(*command: str) -> Iterator[str]:
    """Run a module as a server, and give the address that ends its first line."""
    process = subprocess.Popen(
        (sys.executable, "-m", *command), stdout=subprocess.PIPE, env=SETTINGS, text=True
    )
    try:
        if process.stdout is None:
            sys.exit("no output")
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def quick_runner(name: str = "quick") -> Iterator[RunnerAddress]:
    """Run the stand-in of a runner that answers at once."""
    with started("tests.discord.runner", "--token", TOKEN) as url:
        yield address_of(url, name)


def address_of(url: str, name: str = "quick") -> RunnerAddress:
    """Return the settings of a stand-in."""
    return RunnerAddress(name=name, url=url, gpu="H200", token=Secret(TOKEN))
