"""A real HTTP server that answers as a test tells it to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from runner_client.address import RunnerAddress
from runner_client.secret import Secret
from runner_client.wire import API

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
TOKEN = "let-me-in"


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[RunnerAddress]:
    """Serve every path below the API with `handler` on a free port of loopback."""
    app = web.Application(client_max_size=64_000_000)
    app.router.add_route("*", API + "/{rest:.*}", handler)
    server = web.AppRunner(app, shutdown_timeout=0.1)
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    try:
        yield address(server.addresses[0][1])
    finally:
        await server.cleanup()


def address(port: int) -> RunnerAddress:
    """Name the server at a port of loopback."""
    url = f"http://127.0.0.1:{port}"
    return RunnerAddress(name="r1", url=url, gpu="H200", token=Secret(TOKEN))
