"""What the operator of the bot can set."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from bot.config import load
from runner_client.address import RunnerAddress
from runner_client.secret import Secret

ALIASES = {"discord_token": "DISCORD_TOKEN", "database_url": "DATABASE_URL"}


def packaged_problems() -> Path:
    """Return the sample problems that are installed with the bot."""
    return Path(str(files("problems")))


class BotSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the bot; the defaults make one machine work.

    `runners` empty means a runner of the bot's own on loopback. `upload_limit` in bytes narrows
    Discord's own. `admin_role` is a role's id that counts as admin beside Manage Server.
    `runner_patience` in seconds is how long an unreachable runner is waited for in a running job.
    `max_artifact_bytes` bounds one fetched file.
    """

    discord_token: Secret | None = None
    database_url: Secret | None = None
    data: Path = Path("ncubot-data")
    problems: Path = field(default_factory=packaged_problems)
    runners: tuple[RunnerAddress, ...] = ()
    upload_limit: Annotated[int, Meta(ge=1)] | None = None
    admin_role: Annotated[int, Meta(ge=1)] | None = None
    profile_after_deadline: bool = True
    runner_patience: Annotated[float, Meta(ge=0, le=86_400)] = 600.0
    max_artifact_bytes: Annotated[int, Meta(ge=1)] = 2_000_000_000

    def __post_init__(self) -> None:
        names = [runner.name for runner in self.runners]
        if len(set(names)) != len(names):
            raise ValueError("runners: each needs a name of its own")

    @property
    def database(self) -> str:
        """The database's URL as the operator writes it."""
        if self.database_url is not None:
            return self.database_url.reveal()
        return f"sqlite:///{(self.data / 'ncubot.db').absolute()}"


def load_settings(
    path: Path | None = None, environ: Mapping[str, str] | None = None
) -> BotSettings:
    """Read table `bot` of ncubot.toml and variables `NCUBOT_...`. Raises ConfigError."""
    return load(BotSettings, "bot", "NCUBOT_", path, environ, ALIASES)
