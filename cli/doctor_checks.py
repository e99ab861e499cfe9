"""Which sides `ncubot doctor` looks at on this machine, and how it shows what was found."""

import asyncio
import shutil
import uuid
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import click
import msgspec

from bot.config import ConfigError
from bot.settings import BotSettings, load_settings
from bot.wording import sentence
from cli.runner_settings import runner_settings
from counters.names import escaped
from runner.app import create_engine
from runner.health.checks import bad, doubt, good
from runner.health.doctor import examine as examine_runner
from runner.recorded import BadRecording
from runner.service.tls import BadCertificate, fingerprint
from runner.settings import RunnerSettings
from runner_client.address import RunnerAddress
from runner_client.trust import trust
from runner_client.wire import API, Finding, Health

BOT_LIBRARIES = ("discord", "sqlalchemy", "alembic", "stamina")
ANSWER_S = 5.0


async def examine(config: Path | None, only: str | None) -> tuple[Finding, ...]:
    """Check what this machine has settings for. Raises ClickException for bad settings."""
    try:
        bot = load_settings(config)
    except ConfigError as error:
        raise click.ClickException(sentence(error)) from error
    runner = runner_settings(config, {})
    elsewhere = bool(bot.runners) and runner == RunnerSettings()
    found: tuple[Finding, ...] = ()
    if only != "bot" and (only or not elsewhere):
        found = await _runner(runner)
    if only != "runner":
        found = (*found, *await _bot(bot, asked=only == "bot"))
    return found


def render(findings: tuple[Finding, ...], form: str) -> str:
    """Lay findings out, one line each, or as a JSON list."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(findings), indent=2).decode()
    return "\n".join(_line(one) for one in findings)


def _line(one: Finding) -> str:
    mend = f"; {one.mend}" if one.mend else ""
    return escaped(f"{one.level.value:<8} {one.check:<11} {one.text}{mend}")


async def _runner(settings: RunnerSettings) -> tuple[Finding, ...]:
    health = await _served(settings)
    if health is not None:
        return _told(health, settings.port)
    # A folder of its own: what a runner that we do not reach has at work is left alone.
    scratch = settings.folder / f"doctor-{uuid.uuid4().hex}"
    try:
        engine = create_engine(msgspec.structs.replace(settings, data=scratch))
        return await examine_runner(engine, settings, scratch)
    except BadRecording as error:
        return (bad("recordings", str(error), "name their folder in `recordings`"),)
    finally:
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)


def _told(health: Health, port: int) -> tuple[Finding, ...]:
    if health.checking:
        text = f"the runner on port {port} is still checking itself"
        return (doubt("service", text, "ask again in a minute"),)
    text = f"a runner serves on port {port}; these are its own findings"
    untested = "it was started without a self test"
    own = health.findings or tuple(bad("service", one, untested) for one in health.problems)
    return (good("service", text), *own)


async def _served(settings: RunnerSettings) -> Health | None:
    """Return the health of a runner with these settings, if one serves here."""
    try:
        address = _address(settings)
        headers = {"Authorization": f"Bearer {address.token.reveal()}"} if address.token else {}
        limit = aiohttp.ClientTimeout(total=ANSWER_S)
        async with (
            aiohttp.ClientSession(headers=headers, timeout=limit) as session,
            session.get(address.url + API + "/health", ssl=trust(address)) as answer,
        ):
            return msgspec.json.decode(await answer.read(), type=Health)
    except (BadCertificate, aiohttp.ClientError, TimeoutError, msgspec.DecodeError):
        return None


def _address(settings: RunnerSettings) -> RunnerAddress:
    """Name the runner as this machine reaches it."""
    host = settings.host if settings.on_loopback else "127.0.0.1"
    place = f"[{host}]:{settings.port}" if ":" in host else f"{host}:{settings.port}"
    pin = fingerprint(settings.tls_cert) if settings.tls_cert is not None else None
    scheme = "http" if pin is None else "https"
    url = f"{scheme}://{place}"
    return RunnerAddress(name="here", url=url, gpu="any", token=settings.token, fingerprint=pin)


async def _bot(settings: BotSettings, *, asked: bool) -> tuple[Finding, ...]:
    if settings == BotSettings() and not asked:
        return (good("bot", "nothing is set for a bot on this machine"),)
    if any(find_spec(library) is None for library in BOT_LIBRARIES):
        text = "the bot's libraries are not installed"
        return (bad("bot", text, "install the extra: pip install 'ncubot[bot]'"),)
    from bot.doctor import bot_findings  # noqa: PLC0415 - needs the extra `bot`

    return await bot_findings(settings)
