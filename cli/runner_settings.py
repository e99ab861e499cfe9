"""A runner's settings from file, environment and options; shared by `runner` and `profile`."""

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from bot.config import ConfigError, load
from bot.wording import sentence
from runner.settings import EngineName, RunnerSettings


def runner_settings(
    config: Path | None, options: Mapping[str, str | int | Path | None]
) -> RunnerSettings:
    """Return the settings, options that were given over all else. Raises ClickException."""
    try:
        settings = load(RunnerSettings, "runner", "NCUBOT_RUNNER_", config)
    except ConfigError as error:
        raise click.ClickException(sentence(error)) from error
    given = {name: value for name, value in options.items() if value is not None}
    if "engine" in given:
        given["engine"] = EngineName(str(given["engine"]))
    return msgspec.structs.replace(settings, **given)
