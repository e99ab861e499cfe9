"""What `ncubot doctor` can say of the bot's side, without changing anything."""

import asyncio
from collections.abc import Iterable

from bot.invite import PERMISSIONS, application_id, invite_address
from bot.jobs.errors import NcubotError
from bot.jobs.runners import Runners
from bot.leaderboards.errors import SourceError
from bot.leaderboards.reading import read_folder
from bot.phrases import listed, short
from bot.settings import BotSettings
from bot.storage.inspect import DatabaseState, inspect_database
from bot.wording import sentence
from runner_client.wire import Finding, Health, Level


async def bot_findings(settings: BotSettings) -> tuple[Finding, ...]:
    """Check token, invite address, database, problems and runners."""
    return (
        _token(settings),
        _invite(settings),
        await _database(settings),
        *await _problems(settings),
        *await _runners(settings),
    )


def _token(settings: BotSettings) -> Finding:
    if settings.discord_token is None:
        mend = "set DISCORD_TOKEN to your bot's"
        return _finding("token", Level.PROBLEM, "there is no Discord token", mend)
    return _finding("token", Level.OK, "a Discord token is set")


def _invite(settings: BotSettings) -> Finding:
    number = application_id(settings)
    if number is None:
        mend = "set `application_id`, from the general page of your application at Discord"
        return _finding("invite", Level.WARNING, "the bot's id is not known", mend)
    needs = f"{', '.join(PERMISSIONS)}; no privileged intents"
    return _finding("invite", Level.OK, f"{invite_address(number)} ({needs})")


async def _database(settings: BotSettings) -> Finding:
    try:
        state = await inspect_database(settings.database)
    except NcubotError as error:
        return _finding("database", Level.PROBLEM, sentence(error))
    return _revision(state)


def _revision(state: DatabaseState) -> Finding:
    if state.found == state.needed:
        return _finding("database", Level.OK, f"{state.place} is at revision {state.found}")
    found = f"at revision {state.found}" if state.found else "empty"
    text = f"{state.place} is {found}, {state.needed} is needed"
    if state.upgrades_itself:
        return _finding("database", Level.OK, f"{text}; the bot upgrades it when it starts")
    return _finding("database", Level.PROBLEM, text, "run `ncubot db upgrade`")


async def _problems(settings: BotSettings) -> tuple[Finding, ...]:
    folder = settings.problems
    try:
        reading = await asyncio.to_thread(read_folder, folder, str(folder), None)
    except SourceError as error:
        return (_finding("problems", Level.PROBLEM, sentence(error), "set `problems`"),)
    broken = [f"{one.name}: {sentence(one.error)}" for one in reading.broken]
    told = [*(sentence(fault.error) for fault in reading.faults), *broken]
    if told:
        mend = "mend it, the others can be used"
        return tuple(_finding("problems", Level.WARNING, text, mend) for text in told)
    names = [one.name for competition in reading.competitions for one in competition.problems]
    return (_finding("problems", Level.OK, f"{len(names)} in {folder}: {listed(names)}"),)


async def _runners(settings: BotSettings) -> tuple[Finding, ...]:
    if not settings.runners:
        return (_finding("runners", Level.OK, "none is set: the bot starts one of its own"),)
    runners = Runners(settings.runners, settings.max_artifact_bytes)
    try:
        states = await runners.health()
    finally:
        await runners.close()
    found = [_runner(name, state) for name, state in states.items()]
    return (*found, *_gpus(settings, states.values()))


def _runner(name: str, state: Health | NcubotError) -> Finding:
    check = f"runner {name}"
    if isinstance(state, NcubotError):
        mend = "compare url, token and certificate with the runner's settings"
        return _finding(check, Level.PROBLEM, sentence(state), mend)
    if state.problems:
        mend = "run `ncubot doctor` on that machine"
        return _finding(check, Level.PROBLEM, f"it cannot profile: {state.problems[0]}", mend)
    if state.checking:
        return _finding(
            check, Level.WARNING, "it is still checking itself", "ask again in a minute"
        )
    return _finding(check, Level.OK, f"{state.gpu}, {state.queued} queued, {state.running} running")


def _gpus(settings: BotSettings, states: Iterable[Health | NcubotError]) -> tuple[Finding, ...]:
    found = [
        _finding(
            f"runner {address.name}",
            Level.WARNING,
            f"the settings call its GPU {address.gpu}, it says {state.gpu}",
            "write the runner's name for it, which jobs are checked by",
        )
        for address, state in zip(settings.runners, states, strict=True)
        if isinstance(state, Health) and address.gpu.casefold() != state.gpu.casefold()
    ]
    return tuple(found)


def _finding(check: str, level: Level, text: str, mend: str = "") -> Finding:
    return Finding(check=check, level=level, text=short(text, 900), mend=mend)
