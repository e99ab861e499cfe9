"""The runners of this bot: how each one is, and which gets the next job."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from bot.jobs.errors import GpuWithoutRunner, NcubotError, RunnerDown, RunnerUnknown
from bot.jobs.faults import runner_faults
from bot.leaderboards.gpus import GpuNames
from runner_client.address import RunnerAddress
from runner_client.captures import CaptureMode
from runner_client.client import RunnerClient
from runner_client.wire import Health

BAD_LOOKS = 2
"""So many bad answers in a row take a runner out; one good answer brings it back."""


class JobMoved(Exception):  # noqa: N818 - nothing went wrong
    """A job was taken from the runner that it was followed on."""


class Standing(StrEnum):
    """How a runner is: `unfit` answers that it cannot profile, `down` does not answer as it should.

    It is `unknown` until the first look at it.
    """

    UNKNOWN = "unknown"
    WELL = "well"
    UNFIT = "unfit"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastFailure:
    """The last bad look at a runner: an error, or the runner's own sentence."""

    at: datetime
    why: NcubotError | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerState:
    """What is known of a runner.

    `health` is its last answer, `looked_at` when it was last asked, `bad` the bad looks in a row.
    """

    name: str
    gpu: str
    standing: Standing = Standing.UNKNOWN
    drained: bool = False
    health: Health | None = None
    looked_at: datetime | None = None
    last_failure: LastFailure | None = None
    bad: int = 0

    @property
    def is_out(self) -> bool:
        """Whether it can do no work."""
        return self.standing in {Standing.UNFIT, Standing.DOWN}

    @property
    def takes_jobs(self) -> bool:
        """Whether it gets new jobs."""
        return not self.is_out and not self.drained

    def offers(self, mode: CaptureMode) -> bool:
        """Whether it can make a capture, as far as is known; a hot one can always fall back."""
        if self.health is None or mode is CaptureMode.HOT:
            return True
        return mode in self.health.captures


class Runners:
    """One client a runner, what is known of each, and the jobs that are followed on them."""

    def __init__(
        self,
        addresses: Iterable[RunnerAddress],
        max_artifact_bytes: int,
        names: GpuNames | None = None,
    ) -> None:
        self.names = names or GpuNames()
        self._clients = {
            address.name: RunnerClient(address, max_artifact_bytes=max_artifact_bytes)
            for address in addresses
        }
        self._states = {
            name: RunnerState(name=name, gpu=client.address.gpu)
            for name, client in self._clients.items()
        }
        self._given: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._followed: dict[str, asyncio.Timeout] = {}

    def gpus(self) -> tuple[str, ...]:
        """Return the GPUs for which some runner takes jobs now, each once."""
        taking = (state.gpu for state in self._states.values() if state.takes_jobs)
        return tuple(dict.fromkeys(taking))

    def all_gpus(self) -> tuple[str, ...]:
        """Return the GPUs of all runners, in service or not, each spelling once."""
        return tuple(dict.fromkeys(state.gpu for state in self._states.values()))

    def state(self, runner: str) -> RunnerState:
        """Return what is known of a runner. Raises RunnerUnknown."""
        if runner not in self._states:
            raise RunnerUnknown(runner, tuple(self._states))
        return self._states[runner]

    def states(self) -> tuple[RunnerState, ...]:
        """Return what is known of each runner, in the order of the settings."""
        return tuple(self._states.values())

    def captures(self, gpu: str) -> frozenset[CaptureMode] | None:
        """Return the modes that some runner of a GPU offers now; None where it is not known."""
        able = [state for state in self._of(gpu) if state.takes_jobs]
        if not able or any(state.health is None for state in able):
            return None
        return frozenset(mode for state in able if state.health for mode in state.health.captures)

    def next_for(self, gpu: str, but: Iterable[str] = (), mode: CaptureMode | None = None) -> str:
        """Return the runner of a GPU, however it is spelt, that has least to do.

        Of several that have, those take turns. Raises GpuWithoutRunner where no runner but those
        named in `but` takes jobs, or none offers the capture `mode`.
        """
        left = set(self._clients) - set(but)
        able = [state for state in self._of(gpu) if state.takes_jobs and state.name in left]
        able = [state for state in able if mode is None or state.offers(mode)]
        if not able:
            raise GpuWithoutRunner(gpu, self.gpus())
        chosen = min(able, key=lambda state: (self._load(state), self._turns[state.name])).name
        self._given[chosen] += 1
        self._turns[chosen] += 1
        return chosen

    def client(self, runner: str) -> RunnerClient:
        """Return the client of a runner. Raises RunnerDown where the settings dropped it."""
        if runner not in self._clients:
            raise RunnerDown(runner)
        return self._clients[runner]

    def answered(self, runner: str, health: Health) -> None:
        """Take in how a runner says that it is."""
        if health.problems and not health.checking:
            self._bad_look(runner, health.problems[0], Standing.UNFIT, health)
            return
        self._states[runner] = replace(
            self._states[runner],
            standing=Standing.WELL,
            health=health,
            looked_at=datetime.now(UTC),
            bad=0,
        )
        self._given[runner] = 0

    def did_not_answer(self, runner: str, error: NcubotError) -> None:
        """Take in that a runner gave no answer, or none that can be used."""
        self._bad_look(runner, error, Standing.DOWN, self._states[runner].health)

    def set_drained(self, drained: frozenset[str]) -> None:
        """Give no new job to these runners, and to all others."""
        for name, state in self._states.items():
            self._states[name] = replace(state, drained=name in drained)

    @asynccontextmanager
    async def unless_moved(self, job_id: str) -> AsyncIterator[None]:
        """Do something with a job on its runner. Raises JobMoved as soon as it is taken away."""
        timeout = asyncio.timeout(None)
        try:
            async with timeout:
                self._followed[job_id] = timeout
                yield
        except TimeoutError:
            if timeout.expired():
                raise JobMoved(job_id) from None
            raise
        finally:
            if self._followed.get(job_id) is timeout:
                del self._followed[job_id]

    def tell_moved(self, job_id: str) -> None:
        """End what is being done with a job by `unless_moved`."""
        timeout = self._followed.get(job_id)
        if timeout is not None and not timeout.expired():
            timeout.reschedule(asyncio.get_running_loop().time())

    async def health(self) -> dict[str, Health | NcubotError]:
        """Ask every runner how it is."""
        return {name: await self._health(name) for name in self._clients}

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            await client.close()

    async def _health(self, runner: str) -> Health | NcubotError:
        try:
            with runner_faults(runner, ""):
                return await self._clients[runner].health()
        except NcubotError as error:
            return error

    def _of(self, gpu: str) -> Iterator[RunnerState]:
        key = self.names.key(gpu)
        return (state for state in self._states.values() if self.names.key(state.gpu) == key)

    def _load(self, state: RunnerState) -> float:
        """Return its jobs a slot: those of the last look and those given since."""
        health = state.health
        known = health.queued + health.running if health else 0
        return (known + self._given[state.name]) / max(health.slots if health else 1, 1)

    def _bad_look(
        self, runner: str, why: NcubotError | str, standing: Standing, health: Health | None
    ) -> None:
        state = self._states[runner]
        bad, now = state.bad + 1, datetime.now(UTC)
        self._states[runner] = replace(
            state,
            bad=bad,
            health=health,
            looked_at=now,
            standing=standing if bad >= BAD_LOOKS else state.standing,
            last_failure=LastFailure(at=now, why=why),
        )
