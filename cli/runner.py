"""`ncubot runner`: the GPU side as a service."""

from pathlib import Path

import click


@click.command("runner")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, else ncubot.toml.")
@click.option("--host", help="Address to serve on; off loopback a token is needed.")
@click.option("--port", type=click.IntRange(0, 65_535), help="0 takes a free one.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder for jobs and results.")
@click.option("--engine", type=click.Choice(("local", "recorded", "ray")))
@click.option("--address", "ray_address", help="HOST:PORT of the Ray cluster, for engine ray.")
@click.option("--gpu", help="GPU name as competitions write it; the driver's where not given.")
@click.option("--python", help="Interpreter for the evaluators.")
@click.option("--ncu", help="Nsight Compute's command line.")
@click.option("--nvcc", help="CUDA compiler.")
@click.option("--end-with-stdin", is_flag=True, help="End when standard input does: for a parent.")
def command(
    config: Path | None, *, end_with_stdin: bool, **options: str | int | Path | None
) -> None:
    """Run captures for bots; the token comes from NCUBOT_RUNNER_TOKEN."""
    import asyncio  # noqa: PLC0415 - `ncubot --help` imports this module

    from cli.runner_settings import runner_settings  # noqa: PLC0415 - as above
    from runner.app import serve  # noqa: PLC0415 - as above
    from runner.cluster.errors import NoCluster  # noqa: PLC0415 - as above
    from runner.recorded import BadRecording  # noqa: PLC0415 - as above
    from runner.service.tls import BadCertificate  # noqa: PLC0415 - as above
    from runner_client.logs import configure, secrets_in  # noqa: PLC0415 - as above

    settings = runner_settings(config, options)
    if settings.token is None and not settings.on_loopback:
        raise click.UsageError(
            f"{settings.host} is not loopback: set NCUBOT_RUNNER_TOKEN to a secret first"
        )
    configure(settings.log_format, secrets_in(settings))
    try:
        asyncio.run(serve(settings, _announce, end_with_stdin=end_with_stdin))
    except (BadCertificate, BadRecording, NoCluster) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(
            f"cannot serve on {settings.host}:{settings.port} from {settings.data}: {reason}"
        ) from error


def _announce(url: str) -> None:
    click.echo(f"listening on {url}")
