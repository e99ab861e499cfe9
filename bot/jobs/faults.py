"""A runner client's errors, as this package's: one place, one table."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.jobs import errors
from runner_client import errors as client


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
        case client.Unknown():
            return errors.JobVanished(runner, job_id)
        case client.Refused(reason=reason):
            return errors.RunnerRefused(runner, reason)
        case client.Broken(reason=reason):
            return errors.RunnerBroken(runner, reason)
    raise NotImplementedError(type(error))


def fault_kind(fault: errors.RunnerFault) -> str:
    """Name a fault for the database."""
    kinds: dict[type[errors.RunnerFault], str] = {
        errors.RunnerDown: "runner-down",
        errors.RunnerDenied: "runner-denied",
        errors.RunnerRefused: "runner-refused",
        errors.RunnerBroken: "runner-broken",
        errors.JobVanished: "job-vanished",
    }
    return kinds[type(fault)]
