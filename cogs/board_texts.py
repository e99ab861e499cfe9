"""What /leaderboard says: plain values to Discord's text. Nothing here talks to Discord."""

from collections.abc import Iterable
from datetime import datetime

from bot.leaderboards.changes import FieldChange
from bot.leaderboards.check.model import Verdict
from bot.leaderboards.model import Leaderboard, spec_line
from bot.leaderboards.service import History
from bot.leaderboards.sync import SyncReport
from bot.reports.message import DESCRIPTION_LIMIT
from bot.reports.neutral import block, code, inline
from bot.storage.audit import Entry

NONE_YET = "There is no leaderboard yet; an admin can make some with /leaderboard sync."
VERDICTS = {
    Verdict.NCU: "✅ work: the evaluator opens the range that ncu captures",
    Verdict.TORCH_PROFILER_ONLY: "❌ give no counters: the evaluator starts torch.profiler only",
    Verdict.NOT_IMPLEMENTED: "❌ give no counters: the evaluator has no profile mode",
    Verdict.NOT_NVIDIA: "❌ give no counters: ncu needs an NVIDIA GPU",
    Verdict.MULTI_GPU: "❌ give no counters: the task runs on several GPUs at once",
    Verdict.UNKNOWN: "❔ may work: the evaluator's source does not tell",
}
FORCED = (
    "**This changes what old results mean.** They stay, but can no longer be compared with new "
    "ones; jobs that are under way keep the state they were started with."
)
SHAPES_LIMIT = 1_000
MOST_FINDINGS = 3
MOST_NAMES = 20


def list_text(boards: Iterable[Leaderboard]) -> str:
    """Return one line a leaderboard."""
    return as_lines(map(_line, boards))


def _line(board: Leaderboard) -> str:
    shapes = len(board.task.benchmarks)
    until = f" · until {moment(board.deadline, 'f')}" if board.deadline else ""
    closed = " · closed" if board.closed else ""
    return f"**{inline(board.name, 100)}** · {gpus(board)} · {shapes} shapes{until}{closed}"


def gpus(board: Leaderboard) -> str:
    """Return the GPUs of a leaderboard."""
    return ", ".join(map(code, board.gpus)) or "no GPU"


def moment(when: datetime, style: str) -> str:
    """Return a moment as every reader's own Discord shows it; `R` is relative."""
    return f"<t:{int(when.timestamp())}:{style}>"


def facts(board: Leaderboard) -> dict[str, str]:
    """Return what is to be said of one leaderboard, by heading."""
    task = board.task
    templates = ", ".join(task.templates)
    return {
        "State": _state(board),
        "GPUs": gpus(board),
        "Deadline": _deadline(board),
        "Profiles": profiles(board),
        "Time limits": (
            f"{task.test_timeout:g} s tests, {task.benchmark_timeout:g} s benchmarks, "
            f"{task.ranked_timeout:g} s ranked"
        ),
        "Ranking": f"{task.ranking_by} of the benchmarks",
        "Starter file": f"{templates} · /leaderboard template" if templates else "none",
        "Comes from": _origin(board),
    }


def shapes(board: Leaderboard) -> str:
    """Return the benchmark shapes with the numbers that /profile takes."""
    lines = [f"{index:>2}  {spec_line(case)}" for index, case in enumerate(board.task.benchmarks)]
    return block("\n".join(lines) or "none", SHAPES_LIMIT)


def profiles(board: Leaderboard) -> str:
    """Return whether profiles can give counters, and why not."""
    if board.check is None:
        return "not checked yet"
    words = VERDICTS[board.check.profile]
    overridden = "\nAn admin lets them run all the same." if board.check_overridden else ""
    if board.check.profile is Verdict.NCU:
        return words + overridden
    found = [
        f"{code(finding.file)}{f' line {finding.line}' if finding.line else ''}: "
        f"{inline(finding.message)}"
        for finding in board.check.findings[:MOST_FINDINGS]
    ]
    return "\n".join([words, *found])[:900] + overridden


def _state(board: Leaderboard) -> str:
    if not board.closed:
        return "open"
    return "closed by an admin" if board.closed_by is not None else "closed"


def _deadline(board: Leaderboard) -> str:
    if board.deadline is None:
        return "none"
    return f"{moment(board.deadline, 'f')} ({moment(board.deadline, 'R')})"


def _origin(board: Leaderboard) -> str:
    place = f"{inline(board.source or 'a folder')} · {code(board.directory or '?')}"
    return f"{place}\ncommit {code(board.commit)}" if board.commit else f"{place}\nno commit"


def preview_text(report: SyncReport) -> str:
    """Say what a sync did or would do: kinds, names, fields, and why something is left out."""
    at = f" at {code(report.commit[:12])}" if report.commit else ""
    lines = [f"{inline(report.source or 'A folder')}{at}"]
    lines += [_kind("created", report.created)] if report.created else []
    for entry in report.changed:
        lines.append(f"**updated** {code(entry.name)}: {_changes(entry.changes)}")
    lines += [_kind("closed", report.closed)] if report.closed else []
    for skip in report.skipped:
        changes = f" ({_changes(skip.changes)})" if skip.changes else ""
        lines.append(f"**skipped** {code(skip.name)}: {inline(skip.reason)}{changes}")
    lines += [f"⚠️ {code(fault.name)}: {inline(fault.error)}" for fault in report.errors]
    lines.append(f"{len(report.unchanged)} unchanged")
    lines += [f"ℹ️ {inline(warning)}" for warning in report.warnings]
    return as_lines(lines)


def _kind(kind: str, names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"**{len(names)} {kind}**: {', '.join(map(code, names[:MOST_NAMES]))}{more}"


def _changes(changes: Iterable[FieldChange]) -> str:
    return "; ".join(f"{change.field}: {inline(change.detail, 150)}" for change in changes)


def force_text(report: SyncReport) -> str:
    """Ask a second time about what was held back."""
    held = [skip for skip in report.skipped if skip.changes]
    changes = (f"{code(skip.name)}: {_changes(skip.changes)}" for skip in held)
    return as_lines([FORCED, *changes])


def history_text(history: History) -> str:
    """Return the states of a leaderboard and what was done to it, newest first."""
    lines = ["**States**"]
    for state in history.states:
        version = state.version
        commit = f" {code(version.commit[:12])}" if version.commit else ""
        changes = _changes(state.changes) or ("first state" if version.number == 1 else "")
        lines.append(f"{version.number}.{commit} {moment(version.created_at, 'f')} {changes}")
    if history.entries:
        lines += ["**Admins**", *map(_entry, history.entries)]
    return as_lines(lines)


def _entry(entry: Entry) -> str:
    who = f"<@{entry.who.id}>" if entry.who.id else inline(entry.who.name or entry.who.origin)
    words = f"{moment(entry.at, 'f')} {who} {code('/' + entry.action)}"
    return words if entry.outcome == "done" else f"{words} {inline(entry.outcome)}"


def as_lines(lines: Iterable[str]) -> str:
    """Join whole lines up to an embed's limit, and say how many did not fit."""
    every = list(lines)
    kept: list[str] = []
    room = DESCRIPTION_LIMIT - 40
    for line in every:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"and {len(every) - len(kept)} more"])
        kept.append(line)
    return "\n".join(kept)
