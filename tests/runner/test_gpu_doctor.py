"""The doctor on a machine with a GPU; never in CI. About 30 s on an H200."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]
DOCTOR = (sys.executable, "-c", "from cli.main import main; main()", "doctor")


def test_all_is_well_on_a_gpu_machine(tmp_path: Path) -> None:
    env = os.environ | {"NCUBOT_RUNNER_DATA": str(tmp_path / "data"), "NCUBOT_RUNNER_PORT": "0"}
    command = (*DOCTOR, "--only", "runner", "--format", "json")
    ended = subprocess.run(
        command, env=env, capture_output=True, check=False, text=True, timeout=110
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = {finding["check"]: finding for finding in json.loads(ended.stdout)}
    for check in ("gpu", "ncu", "python", "data", "sandbox", "census", "counters", "values"):
        assert found[check]["level"] == "ok", found[check]
    assert " counters have values under ncu" in found["values"]["text"]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["census"]
