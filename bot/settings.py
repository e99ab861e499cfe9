"""What the operator of the bot can set."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from bot.accounts.quota import MOST_JOBS, Quota
from bot.config import load
from runner_client.address import RunnerAddress
from runner_client.logs import LogFormat
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
    `stop_patience` in seconds is how long a bot that is stopped goes on with deliveries under way.
    `max_artifact_bytes` bounds one fetched file. `application_id` is Discord's number of the bot,
    for the invite address; where it is not set, the token tells it.

    Runners are looked at every `runner_poll` seconds; `admin_channel` is the id of the channel
    where admins are told of a GPU without any, else it stands in the log. Files of jobs that are
    over are kept for `keep_days` days, and only the newest that have `keep_bytes` together.

    `quotas` are what each user may use, `max_under_way` how many jobs of one user may be unfinished
    at once; `rules` are the operator's own words, shown by /register.

    Terminals are served over HTTP on `web_host` where `web_port` is set. `web_admin_token` lets the
    client's admin commands in. With `web_behind_proxy` the sender's address is the last one of
    X-Forwarded-For.

    Syncs: `git_tokens` by host (`github.com`) let private repositories be read;
    `sync_time_limit` in seconds and `sync_max_bytes` bound one fetch. With `sync_every` in seconds
    `sync_source` at `sync_ref` is synced again and again. `gpu_aliases` maps further spellings of
    GPUs to their names.
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
    stop_patience: Annotated[float, Meta(ge=0, le=600)] = 20.0
    max_artifact_bytes: Annotated[int, Meta(ge=1)] = 2_000_000_000
    runner_poll: Annotated[float, Meta(ge=0.1, le=3_600)] = 10.0
    admin_channel: Annotated[int, Meta(ge=1)] | None = None
    keep_days: Annotated[float, Meta(gt=0, le=36_500)] = 30.0
    keep_bytes: Annotated[int, Meta(ge=0)] = 20_000_000_000
    quotas: tuple[Quota, ...] = ()
    max_under_way: Annotated[int, Meta(ge=1, le=MOST_JOBS)] = 10
    rules: Annotated[str, Meta(max_length=800)] | None = None
    application_id: Annotated[int, Meta(ge=1)] | None = None
    log_format: LogFormat = LogFormat.TEXT
    web_host: str = "127.0.0.1"
    web_port: Annotated[int, Meta(ge=0, le=65_535)] | None = None
    web_admin_token: Secret | None = None
    web_behind_proxy: bool = False
    git_tokens: dict[str, Secret] = {}
    sync_time_limit: Annotated[float, Meta(gt=0, le=3_600)] = 300.0
    sync_max_bytes: Annotated[int, Meta(ge=1_000_000)] = 500_000_000
    sync_every: Annotated[float, Meta(ge=60)] | None = None
    sync_source: str | None = None
    sync_ref: str | None = None
    gpu_aliases: dict[str, str] = {}

    def __post_init__(self) -> None:
        names = [runner.name for runner in self.runners]
        if len(set(names)) != len(names):
            raise ValueError("runners: each needs a name of its own")
        if self.sync_every is not None and not self.sync_source:
            raise ValueError("sync_every: set sync_source too")

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
