"""One cluster for a module of tests, and a runner on it for each of them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from runner.app import create_app
from runner.health.checks import doubt, good
from runner.settings import RunnerSettings
from tests.ray.cluster import Nodes, cluster
from tests.runner.api import Api
from tests.soak.conftest import is_whole
from tests.standin.tools import install

collect_ignore = [] if is_whole() else ["test_nodes_soak.py"]
"""Minutes of dying nodes: with NCUBOT_SOAK=1 only."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, recordings: Path) -> Iterator[Nodes]:
    """Start two nodes with one GPU each."""
    folder = tmp_path_factory.mktemp("nodes")
    tools = install(folder / "bin", recordings)
    settings = RunnerSettings(
        gpu="H200",
        ncu=str(tools.ncu),
        nvcc=str(tools.nvcc),
        read_only=tools.read_only,
        grace_s=2.0,
        self_test=False,
    )
    with cluster(settings, folder) as made:
        made.census["a"] = doubt("census", "not available: no toolkit", "install one")
        made.census["b"] = good("census", "kernels are counted")
        made.add("a", "b")
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(nodes: Nodes) -> AsyncIterator[web.Application]:
    """Make the one runner that this process can have on the cluster."""
    yield create_app(nodes.runner_settings(nodes.folder / "runner"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(app: web.Application) -> AsyncIterator[Api]:
    """Serve it."""
    async with TestServer(app) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))
