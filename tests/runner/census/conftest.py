"""A stand-in of a CUDA toolkit, and the census library built with it by the runner's own code."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.census import build
from runner.census.model import Library
from runner.settings import RunnerSettings

STUB = Path(__file__).parent / "stub"


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of a toolkit with headers and a libcupti."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is absent")
    root = tmp_path_factory.mktemp("toolkit")
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
    return root


def settings_for(toolkit: Path, data: Path) -> RunnerSettings:
    """Return settings of a runner whose nvcc is the stand-in's."""
    return RunnerSettings(data=data, nvcc=str(toolkit / "bin" / "nvcc"))


@pytest.fixture(scope="session")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Build the library."""
    made = asyncio.run(build.library(settings_for(toolkit, tmp_path_factory.mktemp("data"))))
    assert isinstance(made, Library), made
    return made
