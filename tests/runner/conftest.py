"""A runner over real sockets, with stand-in programs where there is no GPU."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer

from runner.app import create_app
from runner.settings import RunnerSettings
from tests.runner.api import Api
from tests.standin.tools import Tools, install


@pytest.fixture
def tools(tmp_path: Path, recordings: Path) -> Tools:
    """Install the stand-ins."""
    return install(tmp_path / "bin", recordings)


@pytest.fixture
def settings(tmp_path: Path, tools: Tools) -> RunnerSettings:
    """Return settings of a local engine on the stand-ins."""
    return RunnerSettings(
        data=tmp_path / "data",
        gpu="H200",
        ncu=str(tools.ncu),
        nvcc=str(tools.nvcc),
        read_only=tools.read_only,
        grace_s=2.0,
        self_test=False,
    )


@pytest.fixture
async def api(settings: RunnerSettings) -> AsyncIterator[Api]:
    """Serve the application on a real socket."""
    async with TestServer(create_app(settings)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))
