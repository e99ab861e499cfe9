"""A stand-in of a CUDA toolkit, with which the census library is built for real."""

import shutil
import subprocess
from pathlib import Path

import pytest

STUB = Path(__file__).resolve().parents[1] / "runner" / "census" / "stub"


def make_toolkit(root: Path) -> Path:
    """Put headers, a libcupti and an nvcc that does nothing under `root`; return the nvcc."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is absent")
    shutil.copytree(STUB, root / "include")
    for folder in ("bin", "lib64"):
        (root / folder).mkdir()
    nvcc = root / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\n", encoding="utf-8")
    nvcc.chmod(0o755)
    made = root / "lib64" / "libcupti.so.13"
    flags = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{STUB}")
    subprocess.run(
        ("gcc", *flags, "-Wl,-soname,libcupti.so.13", "-o", made, STUB / "stub.c", "-lpthread"),
        check=True,
    )
    return nvcc
