"""The runners in words, for admins. What runners say of themselves is made harmless."""

from collections.abc import Iterable

from bot.jobs.runners import LastFailure, RunnerState
from bot.reports.message import DESCRIPTION_LIMIT
from bot.reports.neutral import closed, code, inline
from bot.wording import sentence
from runner_client.wire import Health

NONE = "The settings name no runner."


def runners_text(states: Iterable[RunnerState]) -> str:
    """Return all runners, ready for an embed's description."""
    return closed("\n\n".join(_runner(state) for state in states) or NONE, DESCRIPTION_LIMIT)


def _runner(state: RunnerState) -> str:
    standing = f"**{state.standing}**{', **drained**' if state.drained else ''}"
    lines = [f"{code(state.name)} · {inline(state.gpu, 100)} · {standing}{_seen(state)}"]
    if state.health is not None:
        lines += [_queue(state.health), _versions(state.health)]
    if state.last_failure is not None:
        lines.append(_failure(state.last_failure))
    return "\n".join(lines)


def _seen(state: RunnerState) -> str:
    """Say when the runner was last asked."""
    if state.looked_at is None:
        return ""
    return f" · asked <t:{int(state.looked_at.timestamp())}:R>"


def _queue(health: Health) -> str:
    checking = ", checks itself" if health.checking else ""
    return f"{health.queued} waiting, {health.running} of {health.slots} running{checking}"


def _versions(health: Health) -> str:
    system = health.system
    named = {"driver": system.driver, "ncu": system.ncu_version, "PyTorch": system.torch}
    known = [f"{name} {inline(text, 60)}" for name, text in named.items() if text]
    return " · ".join([f"engine {inline(health.engine, 40)}", *known])


def _failure(failure: LastFailure) -> str:
    why = failure.why if isinstance(failure.why, str) else sentence(failure.why)
    return f"last failure <t:{int(failure.at.timestamp())}:R>: {inline(why, 300)}"
