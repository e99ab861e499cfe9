"""What the demo does in its world, and what it tells on the terminal."""

import asyncio
import signal
from pathlib import Path

import click

from cli.demo_output import summary, write_reply
from cli.demo_world import ENGINE_LOCAL, World, engine_here, open_world

RECORDED = "This machine has no GPU with ncu: captures that were made on a real one are replayed."
LOCAL = "Profiling on this machine's GPU; that takes a minute or two."


async def show(out: Path, *, keep_page: bool) -> bool:
    """Profile the sample, write the reply under `out`, then keep the browser page if asked.

    Tells whether the reply holds a report.
    """
    # A plain kill ends the demo as Ctrl-C does, its runner with it.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
    engine = engine_here()
    click.echo(LOCAL if engine == ENGINE_LOCAL else RECORDED)
    async with open_world(engine) as world:
        profiled = await _profile(world, out)
        if keep_page:
            await _keep_page(world)
    return profiled


async def _profile(world: World, out: Path) -> bool:
    click.echo(f"{world.member.name} types /register")
    await world.register()
    click.echo(f"{world.member.name} types {world.invocation}")
    messages = await world.profile()
    written = await write_reply(messages, out)
    click.echo("\n".join(f"\n{summary(message)}" for message in messages))
    click.echo(f"The reply and its files are in {out}:")
    click.echo("\n".join(f"  {path.relative_to(out)}" for path in written))
    return any(".ncu-rep" in path.name for path in written)


async def _keep_page(world: World) -> None:
    async with world.page() as page:
        click.echo(f"\nThe same in your browser: {page.url}")
        click.echo("Type /profile there and attach a file; Ctrl-C here ends the demo.")
        click.echo(f"For popcorn-cli: POPCORN_API_URL={world.web}, then /register in the page.")
        await page.wait_closed()
