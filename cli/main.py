"""The console script: finds the subcommand, and words every bad input in one line on stderr."""

import importlib
import sys

import click

# Subcommands are imported when they are called: `ncubot report` must not load discord.py.
COMMANDS = {
    "check": "cli.check",
    "db": "cli.db",
    "demo": "cli.demo",
    "doctor": "cli.doctor",
    "new": "cli.new",
    "node": "cli.node",
    "profile": "cli.profile",
    "report": "cli.report",
    "run": "cli.run",
    "runner": "cli.runner",
    "sync": "cli.sync",
    "verify": "cli.verify",
}
BAD_INPUT = 2
# Which extra brings a module that the base install does without.
EXTRAS = {
    "aiosqlite": "bot",
    "alembic": "bot",
    "asyncpg": "bot",
    "discord": "bot",
    "matplotlib": "bot",
    "ray": "ray",
    "simcord": "demo",
    "sqlalchemy": "bot",
    "stamina": "bot",
}


class LazyGroup(click.Group):
    """A group whose members live in a module each, as its attribute `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all subcommands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a subcommand and return its command, or None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ncubot", prog_name="ncubot")
def ncubot() -> None:
    """Nsight Compute inside Discord."""


def main() -> None:
    """Run the command line; exit 2 with one line where the input was bad."""
    try:
        status = ncubot.main(prog_name="ncubot", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        click.echo(f"ncubot: {' '.join(error.format_message().split())}", err=True)
        sys.exit(BAD_INPUT)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        needs = "demo" if "demo" in sys.argv[1:2] else extra
        click.echo(f"ncubot: {error.name} is missing here: pip install 'ncubot[{needs}]'", err=True)
        sys.exit(BAD_INPUT)
    except click.Abort:
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)
