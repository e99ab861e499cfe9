"""`python -m tests.discord`: serves the small Discord until it is ended or killed."""

import argparse
import asyncio
import contextlib
import signal
from pathlib import Path

from aiohttp import web

from tests.discord.control import Control
from tests.discord.drafts import REQUEST_LIMIT
from tests.discord.gateway import Gateway
from tests.discord.orphans import die_with_parent
from tests.discord.rest import Rest
from tests.discord.world import World

LISTENING = "listening on "


async def serve(folder: Path, port: int, token: str) -> None:
    """Serve on loopback; port 0 is any."""
    world = World(folder)
    gateway, rest = Gateway(world, token), Rest(world, token, folder / "asked")
    app = web.Application(client_max_size=REQUEST_LIMIT)
    app.add_routes([*rest.routes(), *Control(world, rest, gateway).routes()])
    app.router.add_get("/gateway", gateway.serve)
    app.router.add_get("/gateway/", gateway.serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    world.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    print(LISTENING + world.url, flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await runner.cleanup()
    rest.close()
    world.close()


async def _stoppable(folder: Path, port: int, token: str) -> None:
    serving = asyncio.create_task(serve(folder, port, token))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    await serving


def main() -> None:
    """Read the command line and serve."""
    die_with_parent()
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    asyncio.run(_stoppable(options.folder, options.port, options.token))


if __name__ == "__main__":
    main()
