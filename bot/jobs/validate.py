"""Everything that is checked before a job exists; pure, so that no refusal leaves a trace."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from bot.jobs import errors
from bot.jobs.directives import Directives, read_directives
from bot.jobs.model import ProfileRequest
from bot.jobs.source import clean_name, decode_source
from bot.jobs.spec import all_benchmarks
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.check.model import Verdict
from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.model import Leaderboard, Task
from runner_client.captures import MAX_LAUNCHES, CaptureMode, CaptureOptions
from runner_client.wire import Benchmark, PythonEvaluator

PYTHON_ENDINGS = (".py",)
CUDA_ENDINGS = (".cu", ".cuh", ".cpp")
MAX_KERNEL_NAME = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the operator and the moment say.

    `gpus` are those with a runner, `names` says which spellings mean the same GPU.
    """

    gpus: tuple[str, ...]
    now: datetime
    profile_after_deadline: bool
    names: GpuNames = field(default_factory=GpuNames)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A request that passed: names canonical, text decoded, `notes` about choices made."""

    leaderboard: Leaderboard
    gpu: str
    file_name: str
    text: str
    benchmarks: tuple[Benchmark, ...]
    notes: tuple[str, ...]


def check(request: ProfileRequest, catalogue: Catalogue, rules: Rules) -> Draft:
    """Check a request against the leaderboards. Raises a subclass of Refused."""
    name = clean_name(request.file_name)
    text = decode_source(name, request.source)
    directives = read_directives(text, python=name.lower().endswith(PYTHON_ENDINGS))
    notes: list[str] = []
    leaderboard = _leaderboard(request, directives, catalogue, notes)
    _check_leaderboard(leaderboard, rules)
    _check_profile(leaderboard, catalogue, notes)
    check_ending(name, leaderboard.task)
    gpu = _gpu(request, directives, leaderboard, rules, notes)
    check_capture(request.capture)
    return Draft(
        leaderboard=leaderboard,
        gpu=gpu,
        file_name=name,
        text=text,
        benchmarks=choose_benchmarks(leaderboard.name, leaderboard.task, request.benchmark),
        notes=tuple(notes),
    )


def _leaderboard(
    request: ProfileRequest, directives: Directives, catalogue: Catalogue, notes: list[str]
) -> Leaderboard:
    typed, written = request.leaderboard, directives.leaderboard
    name = typed or written
    if name is None:
        raise errors.LeaderboardMissing(catalogue.open_names())
    found = catalogue.get(name)
    if found is None:
        raise errors.LeaderboardUnknown(name, catalogue.nearest(name), catalogue.open_names())
    if typed and written and written.casefold() != found.name.casefold():
        notes.append(
            f"The file names leaderboard {written[:100]}; {found.name} was typed and counts."
        )
    return found


def _check_leaderboard(leaderboard: Leaderboard, rules: Rules) -> None:
    if leaderboard.closed:
        raise errors.LeaderboardClosed(leaderboard.name)
    deadline = leaderboard.deadline
    if deadline is not None and deadline < rules.now and not rules.profile_after_deadline:
        raise errors.DeadlinePassed(leaderboard.name, deadline)
    check_single_gpu(leaderboard.name, leaderboard.task)


def _check_profile(leaderboard: Leaderboard, catalogue: Catalogue, notes: list[str]) -> None:
    """Refuse what cannot give counters, before it waits in a queue; warn where nobody knows."""
    found = leaderboard.check
    if found is None or found.profile is Verdict.NCU:
        return
    if found.profile is Verdict.UNKNOWN:
        notes.append("Whether this evaluator gives counters could not be told from its source.")
    elif leaderboard.check_overridden:
        notes.append("By its source this evaluator gives no counters; an admin lets it run.")
    else:
        raise errors.ProfileUnsupported(leaderboard.name, found.profile, catalogue.able_names())


def check_single_gpu(problem: str, task: Task) -> None:
    """Raise MultiGpu for a task over several GPUs."""
    if task.multi_gpu:
        raise errors.MultiGpu(problem)


def check_ending(name: str, task: Task) -> None:
    """Raise FileTypeWrong for a file name that the task's language does not take."""
    python = isinstance(task.evaluator, PythonEvaluator)
    allowed = PYTHON_ENDINGS if python else CUDA_ENDINGS
    if not name.lower().endswith(allowed):
        raise errors.FileTypeWrong(name, allowed)


def _gpu(
    request: ProfileRequest,
    directives: Directives,
    leaderboard: Leaderboard,
    rules: Rules,
    notes: list[str],
) -> str:
    available = rules.names.both(leaderboard.gpus, rules.gpus)
    if request.gpu:
        gpu = _listed(request.gpu, leaderboard, rules.names)
        if directives.gpus and not rules.names.both((gpu,), directives.gpus):
            written = ", ".join(directives.gpus)[:100]
            notes.append(f"The file names GPU {written}; {gpu} was typed and counts.")
    else:
        gpu = _chosen(directives, leaderboard, (available, rules.names), notes)
    if gpu not in available:
        raise errors.GpuWithoutRunner(gpu, available)
    return gpu


def _chosen(
    directives: Directives,
    leaderboard: Leaderboard,
    gpus: tuple[tuple[str, ...], GpuNames],
    notes: list[str],
) -> str:
    """Choose for somebody who typed none: from the file, else where there is no choice."""
    available, names = gpus
    written = tuple(_listed(name, leaderboard, names) for name in directives.gpus)
    listed = tuple(dict.fromkeys(written)) or leaderboard.gpus
    if len(listed) == 1:
        return listed[0]
    possible = names.both(listed, available)
    if len(possible) == 1:
        notes.append(f"No GPU was typed; {possible[0]} is the only one with a runner.")
        return possible[0]
    if not possible:
        raise errors.GpuWithoutRunner(", ".join(listed), available)
    raise errors.GpuMissing(possible)


def _listed(typed: str, leaderboard: Leaderboard, names: GpuNames) -> str:
    found = names.find(typed, leaderboard.gpus)
    if found is None:
        raise errors.GpuNotListed(typed, leaderboard.name, leaderboard.gpus)
    return found


def choose_benchmarks(problem: str, task: Task, index: int | None) -> tuple[Benchmark, ...]:
    """Return the entry asked for, every one for None. Raises NoBenchmarks, BenchmarkOutOfRange."""
    every = all_benchmarks(task)
    if not every:
        raise errors.NoBenchmarks(problem)
    if index is None:
        return every
    if not 0 <= index < len(every):
        raise errors.BenchmarkOutOfRange(index, every)
    return (every[index],)


_FILTERED = frozenset({CaptureMode.FIRST, CaptureMode.PROFILER_API})


def check_offered(capture: CaptureOptions, offered: Iterable[CaptureMode] | None) -> None:
    """Refuse a mode that no runner of the GPU offers; None: it is not known. Raises OptionInvalid.

    `hot` needs no check: without a census a runner captures the first launches and says so.
    """
    if offered is None or capture.mode in {CaptureMode.HOT, *offered}:
        return
    known = ", ".join(f"`{mode.value}`" for mode in CaptureMode if mode in set(offered))
    mode = capture.mode.value
    raise errors.OptionInvalid(
        "capture", f"no runner of this GPU can make a `{mode}` capture now; it offers {known}"
    )


def check_capture(capture: CaptureOptions) -> None:
    """Check what the wire's types do not say of themselves. Raises OptionInvalid."""
    if not 1 <= capture.launch_count <= MAX_LAUNCHES:
        raise errors.OptionInvalid("launch_count", f"expected 1 to {MAX_LAUNCHES}")
    name = capture.kernel_name
    if name is None:
        return
    if capture.mode not in _FILTERED:
        raise errors.OptionInvalid(
            "kernel_name", f"the capture `{capture.mode.value}` takes no kernel filter"
        )
    if not 1 <= len(name) <= MAX_KERNEL_NAME or name == "regex:":
        raise errors.OptionInvalid("kernel_name", f"expected 1 to {MAX_KERNEL_NAME} characters")
    if any(mark in name for mark in "\0\r\n"):
        raise errors.OptionInvalid("kernel_name", "expected one line of text")
    if name.startswith("-"):
        raise errors.OptionInvalid("kernel_name", "a kernel's name starts with no dash")
