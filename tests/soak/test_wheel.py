"""The wheel in an empty environment, with what pip finds for it."""

import os
import subprocess
import venv
from pathlib import Path

from tests.soak.conftest import is_whole
from tests.test_wheel import ROOT, demo, wheel

__all__ = ["wheel"]


def test_installed_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    if not is_whole():
        # The sample is tests/test_wheel.py; here pip resolves and installs everything.
        return
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run(
        [*pip, "-c", str(ROOT / "constraints.txt"), f"{wheel}[demo]"],
        cwd=tmp_path,
        check=True,
        env=os.environ,
    )
    demo((str(environment / "bin" / "ncubot"),), tmp_path, env)
