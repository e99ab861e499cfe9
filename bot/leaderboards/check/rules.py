"""From what an evaluator does to a verdict, with the mend for each thing that is wrong."""

from collections.abc import Iterator

from bot.leaderboards.check.model import Finding, Verdict
from bot.leaderboards.check.trace import Event, Kind, Open

RANGE = "custom_kernel"
MEND = f'call custom_kernel once inside `with torch.cuda.nvtx.range("{RANGE}"):`'
_TRUTH = 'POPCORN_NCU is taken for a truth value, and its "0" is true: compare it with "1"'
_PROFILER = (
    "torch.profiler is started on the way through `profile`, and wants the counters that ncu "
    'reads: start it only where POPCORN_NCU is not "1"'
)
_LEFT = (
    "the work inside the range runs in another thread or process, where the range is not open: "
    "open it in the function that calls custom_kernel"
)
_LOCAL_WORKER = (
    "a lambda or inner function is handed to another process, which cannot import it: define it "
    "at module scope"
)
_SAID: dict[Kind, tuple[str, str]] = {
    Kind.TRUTH: ("ncu-truth", _TRUTH),
    Kind.PROFILER: ("torch-profiler", _PROFILER),
    Kind.LEFT: ("range-thread", _LEFT),
    Kind.LOCAL_WORKER: ("worker-scope", _LOCAL_WORKER),
}


def judge(events: tuple[Event, ...], main: str) -> tuple[Verdict, list[Finding]]:
    """Return whether the calls that were seen can be captured by ncu, and all findings."""
    calls = [event for event in events if event.kind is Kind.CALL]
    good = [event for event in calls if is_captured(event)]
    findings = [_finding(event, *_SAID[event.kind]) for event in events if event.kind in _SAID]
    if good:
        findings += _inside(events, good)
        return _despite_profiler(events), findings
    verdict, found = _without_range(events, calls, main)
    return verdict, findings + found


def is_captured(call: Event) -> bool:
    """Whether ncu selects a call: it stands in the range, and torch.profiler is not on."""
    return not call.profiled and any(map(_is_ours, call.ranges))


def _is_ours(one: Open) -> bool:
    return one.name == RANGE and not one.domain


def _despite_profiler(events: tuple[Event, ...]) -> Verdict:
    profilers = [event for event in events if event.kind is Kind.PROFILER]
    if not profilers:
        return Verdict.NCU
    sure = any(event.sure for event in profilers)
    return Verdict.TORCH_PROFILER_ONLY if sure else Verdict.UNKNOWN


def _without_range(
    events: tuple[Event, ...], calls: list[Event], main: str
) -> tuple[Verdict, list[Finding]]:
    opaque = [event for event in events if event.kind is Kind.OPAQUE]
    if any(event.kind is Kind.PROFILER for event in events) or any(one.recorded for one in calls):
        return Verdict.TORCH_PROFILER_ONLY, _why(events, calls)
    if opaque:
        said = f"`{opaque[0].text}` cannot be followed from source: `ncubot verify` tells"
        return Verdict.UNKNOWN, [*_why(events, calls), _finding(opaque[0], "not-followed", said)]
    if calls:
        unnamed = any(one.name is None for call in calls for one in call.ranges)
        return Verdict.UNKNOWN if unnamed else Verdict.NOT_IMPLEMENTED, _why(events, calls)
    return _never_called(events, main)


def _never_called(events: tuple[Event, ...], main: str) -> tuple[Verdict, list[Finding]]:
    asked = [event for event in events if event.kind is Kind.MODE]
    if not asked:
        said = f"nothing in it looks at the mode or calls custom_kernel: for `profile`, {MEND}"
        return Verdict.UNKNOWN, [Finding("mode-unused", main, None, said)]
    said = f"`profile` is not dispatched to anything that calls the submission: {MEND}"
    return Verdict.NOT_IMPLEMENTED, [_finding(asked[-1], "profile-missing", said)]


def _why(events: tuple[Event, ...], calls: list[Event]) -> list[Finding]:
    """Say for each call what is around it instead of the range."""
    around = [call for call in calls if call.ranges] or calls
    return [*_other_kinds(events), *(_around(call) for call in around)]


def _other_kinds(events: tuple[Event, ...]) -> Iterator[Finding]:
    for event in events:
        if event.kind is Kind.START_END:
            said = "a start/end range is not selected by ncu, only a push/pop range is"
            yield _finding(event, "range-kind", f"{said}: {MEND}")
        if event.kind is Kind.RECORD:
            said = "torch.profiler.record_function opens no NVTX range"
            yield _finding(event, "record-function", f"{said}: {MEND}")


def _around(call: Event) -> Finding:
    if any(map(_is_ours, call.ranges)):
        said = f"the range {RANGE} is opened under torch.profiler only"
        return _finding(call, "range-profiled", f"{said}: {MEND} where POPCORN_NCU is 1")
    if any(one.name == RANGE for one in call.ranges):
        said = f"the range {RANGE} is opened in a domain of its own, which ncu does not select"
        return _finding(call, "range-domain", f"{said}: open it without a domain")
    if not call.ranges:
        return _finding(call, "range-missing", f"{call.text} is called in no NVTX range: {MEND}")
    name = call.ranges[-1].name
    if name is None:
        said = "the name of the range cannot be told from source"
        return _finding(call, "range-name", f"{said}: write it as the text {RANGE}")
    said = f'the range is named "{_short(name)}"'
    return _finding(call, "range-name", f"{said}: ncu selects {RANGE} only, name it so")


def _inside(events: tuple[Event, ...], good: list[Event]) -> list[Finding]:
    """Judge what else the range holds, and what comes before it."""
    found = (
        _set_up_inside(events),
        _several_calls(good),
        _no_sync(events, good),
        _no_warm_up(events, good),
    )
    return [finding for some in found for finding in some]


def _set_up_inside(events: tuple[Event, ...]) -> Iterator[Finding]:
    for event in events:
        if not any(map(_is_ours, event.ranges)):
            continue
        if event.kind is Kind.SET_UP:
            said = f"{event.text} runs inside the range and takes up launches: do it before"
            yield _finding(event, "set-up-in-range", said)
        if event.kind is Kind.CHECK:
            said = f"{event.text} runs inside the range and takes up launches: do it after"
            yield _finding(event, "check-in-range", said)


def _several_calls(good: list[Event]) -> Iterator[Finding]:
    seen: set[int] = set()
    for call in good:
        around = next(one for one in call.ranges if _is_ours(one))
        if call.loops > around.loops or call.opening in seen:
            said = "the range holds more than one call, and the launch limit counts all: call once"
            yield _finding(call, "calls-in-range", said)
        seen.add(call.opening)


def _no_sync(events: tuple[Event, ...], good: list[Event]) -> Iterator[Finding]:
    for call in good:
        later = events[events.index(call) :]
        if not any(one.kind is Kind.SYNC and any(map(_is_ours, one.ranges)) for one in later):
            said = "the range closes before the GPU is done: call torch.cuda.synchronize() in it"
            yield _finding(call, "no-sync", said)


def _no_warm_up(events: tuple[Event, ...], good: list[Event]) -> Iterator[Finding]:
    first = next(event for event in events if event.kind is Kind.CALL)
    if first is good[0]:
        said = (
            "the captured call is the first one, so that kernels of JIT compilation and tuning "
            "are captured too: call custom_kernel once before the range"
        )
        yield _finding(first, "no-warm-up", said)


def _finding(event: Event, rule: str, message: str) -> Finding:
    return Finding(rule, event.file, event.line, message)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
