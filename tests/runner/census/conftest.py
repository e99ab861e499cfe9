"""A stand-in of a CUDA toolkit, and the census library built with it by the runner's own code."""

import asyncio
from pathlib import Path

import pytest

from runner.census import build
from runner.census.model import Library
from runner.settings import RunnerSettings
from tests.standin.toolkit import make_toolkit


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of a toolkit with headers and a libcupti."""
    root = tmp_path_factory.mktemp("toolkit")
    make_toolkit(root)
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
