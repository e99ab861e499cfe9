"""A source -> everything that it declares, as values; nothing of it is on the disk afterwards."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.leaderboards.checkout import check_out, scratch
from bot.leaderboards.competition import Broken, Competition, load_competition
from bot.leaderboards.errors import GrammarError, SourceError
from bot.leaderboards.files import ProblemFiles
from bot.leaderboards.git import Git, head_commit, server_of
from bot.leaderboards.source import Folder, Repository
from runner_client.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What reading a source may use: `scratch` is a folder of its own, `tokens` go by host."""

    scratch: Path
    time_s: float
    max_bytes: int
    tokens: Mapping[str, Secret]


@dataclass(frozen=True, slots=True)
class Fault:
    """A YAML that cannot be used as a whole."""

    file: str
    error: GrammarError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a source declares at one commit; None where its files belong to no commit.

    `sets` names every competition YAML that is there, also those that could not be read or were
    not asked for. `whole` is False where one problem set of several was asked for.
    """

    source: str
    commit: str | None
    competitions: tuple[Competition, ...]
    faults: tuple[Fault, ...]
    sets: frozenset[str]
    whole: bool

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Problems that cannot be used."""
        every = (problem for competition in self.competitions for problem in competition.problems)
        return tuple(problem for problem in every if isinstance(problem, Broken))


async def read_source(
    source: Folder | Repository, ref: str | None, problem_set: str | None, limits: Limits
) -> Reading:
    """Read a source off the event loop. Raises SourceError; broken problems are in the result."""
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(scratch(limits.scratch))
        if isinstance(source, Folder):
            commit = await head_commit(source.path, folder)
            return await asyncio.to_thread(
                read_folder, source.path, source.label, commit, problem_set
            )
        git = Git(folder, limits.max_bytes, source.server, _token(source, limits))
        try:
            async with asyncio.timeout(limits.time_s):
                found = await check_out(source, ref, git)
        except TimeoutError:
            reason = f"it did not come within {limits.time_s:g} s"
            raise SourceError(source.label, reason) from None
        return await asyncio.to_thread(
            read_folder, found.folder, source.label, found.commit, problem_set
        )


def _token(source: Repository, limits: Limits) -> Secret | None:
    return None if source.server is None else limits.tokens.get(server_of(source.server))


def read_folder(
    folder: Path, source: str, commit: str | None = None, problem_set: str | None = None
) -> Reading:
    """Read the competition YAMLs of `folder`, or of its `problems` folder. Raises SourceError."""
    files = _yaml_files(folder, source)
    confined = ProblemFiles(folder)
    competitions: list[Competition] = []
    faults: list[Fault] = []
    for file in files:
        try:
            competitions.append(load_competition(file, confined))
        except GrammarError as error:
            faults.append(Fault(file.stem, error))
    reading = Reading(
        source=source,
        commit=commit,
        competitions=tuple(competitions),
        faults=tuple(faults),
        sets=frozenset(file.stem for file in files),
        whole=True,
    )
    return reading if problem_set is None else _only(reading, problem_set)


def _yaml_files(folder: Path, source: str) -> list[Path]:
    if not folder.is_dir():
        raise SourceError(source, "no such folder")
    # A repository's root may hold YAML of other tools, so its problems folder comes first.
    for place in (folder / "problems", folder):
        every = sorted({*place.glob("*.yaml"), *place.glob("*.yml")} - {place / "task.yml"})
        found = [file for file in every if not file.name.startswith(".")]
        if found:
            return found
    raise SourceError(source, "no competition YAML in it")


def _only(reading: Reading, problem_set: str) -> Reading:
    """Keep one problem set, named by its YAML or by its competition."""
    wanted = problem_set.casefold().removesuffix(".yaml").removesuffix(".yml")
    competitions = tuple(
        competition
        for competition in reading.competitions
        if wanted in {competition.problem_set.casefold(), competition.name.casefold()}
    )
    faults = tuple(fault for fault in reading.faults if fault.file.casefold() == wanted)
    if not competitions and not faults:
        known = ", ".join(sorted(reading.sets))
        raise SourceError(reading.source, f"no problem set {problem_set}, there are {known}")
    return Reading(
        source=reading.source,
        commit=reading.commit,
        competitions=competitions,
        faults=faults,
        sets=reading.sets,
        whole=False,
    )
