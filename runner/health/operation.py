"""What the operator gets of every job: log lines with its id, metrics, and a doctor who looks."""

import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from runner.health.doctor import Doctor
from runner.health.faults import OPERATORS, FaultStreak, kinds
from runner.health.metrics import Metrics, outcome_of
from runner.jobs.job import Executor, LiveJob
from runner_client.wire import JobResult

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatedExecutor(Executor):
    """An executor that is watched; the jobs themselves do not notice."""

    doctor: Doctor
    metrics: Metrics
    faults: FaultStreak = field(default_factory=FaultStreak)

    async def execute(self, job: LiveJob) -> JobResult:
        """Run a job once the doctor lets it in."""
        async with self.doctor.admitted():
            self.metrics.started(await _waited_s(job))
            logger.info("%s of %s begins", job.spec.mode.value, job.spec.leaderboard)
            began = time.monotonic()
            # Not super(): a dataclass with slots is made anew, which zero-argument super loses.
            result = await Executor.execute(self, job)
        self.metrics.ran(job.spec.mode, result, time.monotonic() - began)
        return result

    @property
    def proven(self) -> bool:
        """Return whether the doctor's own kernel gave counters when it was profiled last."""
        return self.doctor.proven

    def ended(self, job: LiveJob, result: JobResult) -> None:
        """Count a job, and let the doctor look where the fault may be this machine's."""
        self.metrics.ended(job.spec.mode, result)
        logger.info("outcome: %s", outcome_of(result))
        self.faults.note(job.spec.requester, result)
        if kinds(result) & OPERATORS:
            self.doctor.suspect()


async def _waited_s(job: LiveJob) -> float:
    events = await job.log.after(0, 0)
    return (datetime.now(UTC) - events[0].at).total_seconds() if events else 0.0
