"""A machine with a GPU, as far as programs can tell: nvidia-smi, and a PyTorch that imports."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from runner.settings import RunnerSettings

TORCH = """
class version:
    cuda = "13.0"


class cuda:
    is_available = staticmethod(lambda: {devices} > 0)
    device_count = staticmethod(lambda: {devices})


__version__ = "2.11.0"
"""
SMI = """#!/bin/sh
case "$1" in
  *mig*) echo "{mig}" ;;
  *index*) for n in {numbers}; do echo "$n, GPU-$n$n-2222-3333, NVIDIA H200"; done ;;
  *name*) for n in {numbers}; do echo "NVIDIA H200, 580.159.04"; done ;;
esac
"""
SUBMISSION = "# standin: {0}\ndef custom_kernel(data):\n    return data\n"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the stand-ins lie; each can be replaced by something worse."""

    root: Path
    settings: RunnerSettings

    def gpu(self, mig: str = "Disabled", count: int = 1) -> None:
        """Let nvidia-smi list GPUs."""
        numbers = " ".join(map(str, range(count)))
        _program(self.root / "bin" / "nvidia-smi", SMI.format(mig=mig, numbers=numbers))

    def torch(self, devices: int = 1) -> None:
        """Let the evaluators' interpreter have PyTorch."""
        package = self.root / "site" / "torch"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(TORCH.format(devices=devices), encoding="utf-8")
        script = f'#!/bin/sh\nPYTHONPATH={self.root}/site exec {sys.executable} "$@"\n'
        _program(self.root / "bin" / "python", script)

    def self_test(self, monkeypatch: pytest.MonkeyPatch, recording: str) -> None:
        """Let the tiny kernel's profile end as a recorded run did."""
        problem = self.root / "selftest"
        problem.mkdir(exist_ok=True)
        (problem / "eval.py").write_text("", encoding="utf-8")
        text = SUBMISSION.format(recording)
        (problem / "submission.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr("runner.health.selfcheck.PROBLEM", problem)


def make_machine(root: Path, settings: RunnerSettings) -> Machine:
    """Make a machine on which everything works."""
    (root / "bin").mkdir(parents=True)
    python = str(root / "bin" / "python")
    read_only = (*settings.read_only, root, Path(sys.prefix))
    fitting = replace(
        settings, python=python, gpu="", read_only=read_only, self_test=True, busy_retry_s=0.0
    )
    machine = Machine(root, fitting)
    machine.gpu()
    machine.torch()
    return machine


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
