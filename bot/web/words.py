"""A job's events in plain words, for a terminal."""

from bot.failures import FAILURES
from bot.phrases import short
from bot.reports.coverage import COUNTING, found_words
from counters.names import escaped
from runner_client.wire import Capturing, Exporting, JobEvent, Preparing, Queued, Retrying


def words(event: JobEvent) -> str | None:
    """Say where a job stands, or None for an event that nobody need see."""
    match event:
        case Queued():
            return f"queued, {event.ahead} ahead" if event.ahead else "next in the queue"
        case Preparing():
            return "preparing the submission"
        case Capturing():
            return f"benchmark {event.benchmark}: {_kernel(event)}"
        case Retrying():
            again = f"trying again in {event.wait_s:.0f} s"
            return f"benchmark {event.benchmark}: {FAILURES[event.reason].cause}, {again}"
        case Exporting():
            return f"benchmark {event.benchmark}: exporting"
    return None


def _kernel(event: Capturing) -> str:
    if event.counting:
        return COUNTING
    if event.kernel == 0 and event.census is not None:
        return found_words(event.census)
    if event.kernel == 0:
        return "starting under Nsight Compute" if event.limit else "starting"
    name = f" {short(escaped(event.name), 80)}" if event.name else ""
    return f"kernel {event.kernel} of at most {event.limit}{name}"
