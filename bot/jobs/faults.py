"""A runner client's errors, as this package's: one place, one table."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.jobs import errors
from runner_client import errors as client
from runner_client.wire import FailureKind

OVER_LIMIT = 422
"""A runner's answer to a job that asks for more than its operator allows."""
UNAVAILABLE = 503
"""Its answer where it takes no job at the moment."""


@contextmanager
def runner_faults(runner: str, job_id: str) -> Iterator[None]:
    """Turn what the client raises into a RunnerFault that names the runner."""
    try:
        yield
    except client.ClientError as error:
        raise _fault(error, runner, job_id) from error


def _fault(error: client.ClientError, runner: str, job_id: str) -> errors.RunnerFault:
    match error:
        case client.Unreachable():
            return errors.RunnerDown(runner)
        case client.Denied():
            return errors.RunnerDenied(runner)
        case client.Untrusted(reason=reason):
            return errors.RunnerUntrusted(runner, reason)
        case client.Unknown():
            return errors.JobVanished(runner, job_id)
        case client.Refused():
            return _refused(error, runner)
        case client.Broken(reason=reason):
            return errors.RunnerBroken(runner, reason)
    raise NotImplementedError(type(error))


def _refused(error: client.Refused, runner: str) -> errors.RunnerFault:
    if error.status == OVER_LIMIT:
        return errors.OverLimit(runner, error.reason)
    if error.status == UNAVAILABLE:
        return errors.RunnerBusy(runner, error.reason)
    return errors.RunnerRefused(runner, error.reason)


def fault_kind(fault: errors.RunnerFault) -> str:
    """Name a fault for the database."""
    kinds: dict[type[errors.RunnerFault], str] = {
        errors.RunnerDown: "runner-down",
        errors.RunnerDenied: "runner-denied",
        errors.RunnerUntrusted: "runner-untrusted",
        errors.OverLimit: FailureKind.LAUNCH_LIMIT.value,
        errors.RunnerBusy: "runner-busy",
        errors.RunnerRefused: "runner-refused",
        errors.RunnerBroken: "runner-broken",
        errors.JobVanished: "job-vanished",
    }
    return kinds[type(fault)]
