"""`ncubot node`: a machine becomes part of the Ray cluster that a runner uses."""

import os
from pathlib import Path

import click


@click.command("node", context_settings={"ignore_unknown_options": True})
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, else ncubot.toml.")
@click.option("--head", "host", metavar="ADDRESS", help="Start a cluster on this own IP address.")
@click.option("--port", type=click.IntRange(1, 65_535), default=6379, help="Of a head.")
@click.option("--address", metavar="HOST:PORT", help="Join that cluster with this machine's GPUs.")
@click.argument("ray_options", nargs=-1)
def command(
    config: Path | None,
    host: str | None,
    port: int,
    address: str | None,
    ray_options: tuple[str, ...],
) -> None:
    """Check this machine, then run Ray in the foreground; further options are `ray start`'s.

    A machine that cannot profile a tiny kernel does not join.
    """
    import asyncio  # noqa: PLC0415 - `ncubot --help` imports this module

    import ray  # noqa: F401, PLC0415 - one sentence where the extra is missing

    from cli.doctor_checks import render  # noqa: PLC0415 - as above
    from cli.runner_settings import runner_settings  # noqa: PLC0415 - as above
    from runner.cluster import joining  # noqa: PLC0415 - as above

    if (host is None) == (address is None):
        raise click.UsageError("say either --head ADDRESS or --address HOST:PORT")
    try:
        if address is None:
            start = joining.head(str(host), port)
        else:
            start, found = asyncio.run(joining.worker(runner_settings(config, {}), address))
            click.echo(render(found, "text"))
    except (joining.CannotJoin, OSError) as error:
        raise click.ClickException(str(error)) from error
    os.execve(start.argv[0], (*start.argv, *ray_options), dict(start.env))  # noqa: S606 - Ray's own
