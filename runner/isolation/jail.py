"""Makes the cell of each program of a job, and tells what holds on this machine."""

import asyncio
from pathlib import Path

from runner.capture.command import BINARY
from runner.capture.workspace import Workspace
from runner.isolation.cell import Cell, Confinement
from runner.isolation.confinement import confine, devices_of, limits_in_force, problems_of, trial
from runner.isolation.places import INSIDE, Places, evaluator_binds, export_binds, outside
from runner.settings import RunnerSettings
from runner_client.wire import JobSpec, LimitsInForce


class Jail:
    """The confinement of one runner, found out when it is first asked for."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._found: Confinement | None = None
        self._finding = asyncio.Lock()

    async def limits(self) -> LimitsInForce:
        """Return what holds for every program."""
        return limits_in_force(self._settings, await self.confinement())

    async def problems(self) -> tuple[str, ...]:
        """Return what keeps this runner from containing a submission, one sentence each."""
        confinement = await self.confinement()
        return await asyncio.to_thread(problems_of, self._settings, confinement)

    async def fault(self) -> str:
        """Start the evaluators' interpreter in the sandbox; return why it does not run, if so.

        Nothing is started where the operator runs without one.
        """
        confinement = await self.confinement()
        return "" if confinement.machine is None else await trial(self._settings, confinement)

    async def evaluator(self, work: Workspace, spec: JobSpec) -> Cell:
        """Return the cell of nvcc, the import and the evaluator, files of the job read-only."""
        confinement = await self.confinement()
        return await asyncio.to_thread(_evaluator, confinement, work, spec)

    async def export(self, work: Workspace, report: Path) -> Cell:
        """Return the cell of `ncu --import`, which sees `report` and no GPU."""
        confinement = await self.confinement()
        if confinement.account is not None:
            await asyncio.to_thread(work.give_to, confinement.account)
        return Cell(confinement=confinement, root=work.root, binds=export_binds(work, report))

    async def places(self, work: Workspace, reports: Path | None = None) -> Places:
        """Return the paths of a job as its programs see them."""
        sandboxed = (await self.confinement()).machine is not None
        return INSIDE if sandboxed else outside(work, reports or work.out)

    async def confinement(self) -> Confinement:
        """Return what stands around every program."""
        async with self._finding:
            if self._found is None:
                self._found = await confine(self._settings)
            return self._found


def _evaluator(confinement: Confinement, work: Workspace, spec: JobSpec) -> Cell:
    if confinement.account is not None:
        work.give_to(confinement.account)
    names = [file.name for file in (*spec.files, spec.submission)]
    if (work.given / BINARY).is_file():
        names.append(BINARY)
    return Cell(
        confinement=confinement,
        root=work.root,
        binds=evaluator_binds(work, tuple(names)),
        devices=devices_of(confinement, work.gpu),
    )
