"""Whether this runner can profile: checked at start, from time to time, and when a job says not."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from runner.engine import Elastic, Engine
from runner.health.census import census_finding
from runner.health.checks import bad, good, quick_findings
from runner.health.gate import Gate
from runner.health.sandboxing import sandbox_findings
from runner.health.selfcheck import self_findings
from runner.settings import EngineName, RunnerSettings
from runner_client.wire import Finding, Level

logger = logging.getLogger(__name__)
MENDED_AFTER_S = 60.0
"""Time between two checks of a runner that cannot profile: it comes back without a restart."""


async def examine(engine: Engine, settings: RunnerSettings, scratch: Path) -> tuple[Finding, ...]:
    """Check everything, with a real profile of a tiny kernel at the end. Takes seconds.

    `scratch` takes the files of that profile.
    """
    if settings.engine is EngineName.RECORDED:
        return await _recorded(engine, settings)
    if settings.engine is EngineName.RAY:
        return await _cluster(engine, settings, scratch)
    found = (*await quick_findings(settings), *await sandbox_findings(engine, settings))
    if any(one.level is Level.PROBLEM for one in found):
        return found
    gpus = await engine.gpus()
    found = (*found, await census_finding(settings, scratch, next(iter(gpus), "")))
    tests = (self_findings(engine, settings, scratch, gpu) for gpu in gpus)
    measured = await asyncio.gather(*tests)
    if len(measured) == 1:
        return (*found, *measured[0])
    return (*found, *(_of(n, one) for n, each in enumerate(measured) for one in each))


def _of(number: int, finding: Finding) -> Finding:
    """Name the GPU, in the order of the settings or the driver."""
    return replace(finding, check=f"{finding.check} {number}")


def problem_sentences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return what keeps the runner from profiling, each with its mend."""
    return tuple(
        f"{one.text}: {one.mend}" if one.mend else one.text
        for one in findings
        if one.level is Level.PROBLEM
    )


class Doctor:
    """Keeps the findings of the last check, and jobs out while the tiny kernel is profiled."""

    def __init__(self, engine: Engine, settings: RunnerSettings, gate: Gate) -> None:
        self._engine = engine
        self._settings = settings
        self._gate = gate
        self._first = asyncio.Event()
        self._suspect = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.findings: tuple[Finding, ...] = ()

    @property
    def checking(self) -> bool:
        """Return whether the first check is still to end."""
        return self._settings.self_test and not self._first.is_set()

    @property
    def proven(self) -> bool:
        """Return whether a kernel of ours was profiled, and gave values, in the last check."""
        measured = [one for one in self.findings if one.check.startswith("counters")]
        return bool(measured) and all(one.level is Level.OK for one in measured)

    async def problems(self) -> tuple[str, ...]:
        """Return what keeps this runner from profiling, one sentence each."""
        if self.findings:
            return problem_sentences(self.findings)
        return await self._engine.problems()

    def start(self) -> None:
        """Begin to check in the background; without a self test, believe the engine."""
        if self._settings.self_test:
            self._task = asyncio.create_task(self._look_after(), name="runner-doctor")

    async def close(self) -> None:
        """End a running check."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def suspect(self) -> None:
        """Check again soon: a job failed by what is the operator's."""
        self._suspect.set()

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Let a job in once the first check has ended, and no other runs."""
        if self.checking:
            await self._first.wait()
        async with self._gate.job():
            yield

    async def _look_after(self) -> None:
        while True:
            self._suspect.clear()
            async with self._gate.alone():
                self.findings = await self._examined()
            _tell(self.findings)
            self._first.set()
            await self._until_next()

    async def _examined(self) -> tuple[Finding, ...]:
        # Where a restarted runner ends what a killed one left.
        scratch = self._settings.folder / "work"
        try:
            return await examine(self._engine, self._settings, scratch)
        except Exception as error:  # edge of a check: one that breaks must not stop the service
            logger.exception("the check of this runner broke")
            return (bad("doctor", f"the check broke ({type(error).__name__})", "see the log"),)

    async def _until_next(self) -> None:
        """Wait for a suspicion, or for the next check's time and a moment without jobs."""
        while not await self._suspected_within(self._pause_s()):
            if self._gate.idle:
                return

    def _pause_s(self) -> float | None:
        if problem_sentences(self.findings):
            return MENDED_AFTER_S
        return self._settings.self_test_every_s or None

    async def _suspected_within(self, seconds: float | None) -> bool:
        try:
            await asyncio.wait_for(self._suspect.wait(), seconds)
        except TimeoutError:
            return False
        return True


def _tell(findings: tuple[Finding, ...]) -> None:
    levels = {Level.OK: logging.INFO, Level.WARNING: logging.WARNING, Level.PROBLEM: logging.ERROR}
    for one in findings:
        mend = f"; {one.mend}" if one.mend else ""
        logger.log(levels[one.level], "%s: %s%s", one.check, one.text, mend)


async def _cluster(engine: Engine, settings: RunnerSettings, scratch: Path) -> tuple[Finding, ...]:
    """Profile on one node: each was checked when it joined."""
    found = await quick_findings(settings, replay=True)
    mend = "look at docs/operations.md, Many GPU machines"
    absent = [bad("nodes", problem, mend) for problem in await engine.problems()]
    if absent or any(one.level is Level.PROBLEM for one in found):
        return (*found, *absent)
    gpus = await engine.gpus()
    nodes = good("nodes", f"{len(gpus)} x {await engine.gpu()} in the cluster")
    census = (await engine.census(),) if isinstance(engine, Elastic) else ()
    return (*found, nodes, *census, *await self_findings(engine, settings, scratch, gpus[0]))


async def _recorded(engine: Engine, settings: RunnerSettings) -> tuple[Finding, ...]:
    quick = await quick_findings(settings, replay=True)
    problems = await engine.problems()
    told = [bad("recordings", problem, "name their folder in `recordings`") for problem in problems]
    replay = good("recordings", f"captures of {engine.recorded_on} are replayed, no GPU is used")
    return (*quick, *(told or [replay]))
