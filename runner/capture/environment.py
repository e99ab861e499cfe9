"""The environment of every program that the runner starts: an allow-list, nothing inherited."""

import os
from pathlib import Path

from runner_client.wire import JobSpec, Mode

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def base_environment(home: Path, tmp: Path, gpu: str = "") -> dict[str, str]:
    """Return PATH, HOME, TMPDIR and a fixed locale: ncu's numbers must not follow the machine's.

    `gpu` is the one GPU that the program may see, by UUID or nvidia-smi's index; where it is not
    given, those that the runner itself was given.
    """
    env = {
        "PATH": os.environ.get("PATH", DEFAULT_PATH),
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "LC_ALL": "C.UTF-8",
    }
    devices = gpu or os.environ.get("CUDA_VISIBLE_DEVICES")
    if devices is None:
        return env
    # CUDA counts by speed unless told otherwise, nvidia-smi by bus.
    return env | {"CUDA_VISIBLE_DEVICES": devices, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def evaluator_environment(
    spec: JobSpec, home: Path, tmp: Path, gpu: str = "", mode: Mode | None = None
) -> dict[str, str]:
    """Return the environment of an evaluator; POPCORN_FD is added with its pipe.

    POPCORN_NCU is `1` or absent, never `0`: evaluators have taken that for true. `mode` is the
    evaluator's, where it is not the job's.
    """
    env = base_environment(home, tmp, gpu)
    if (mode or spec.mode) is Mode.PROFILE:
        env["POPCORN_NCU"] = "1"
    if spec.seed is not None:
        env["POPCORN_SEED"] = str(spec.seed)
    return env
