"""The command lines, as pure functions: evaluator, ncu around it, exports, nvcc."""

from pathlib import Path

from runner.census.model import Choice
from runner_client.captures import CaptureMode, CaptureOptions, Preset
from runner_client.wire import CudaEvaluator, Evaluator, Mode

SETS = {
    Preset.QUICK: "basic",
    Preset.STANDARD: "detailed",
    Preset.FULL: "full",
    Preset.ROOFLINE: "roofline",
}
CACHE_CONTROL = "all"
CLOCK_CONTROL = "none"
BINARY = "eval.out"
_RANGE = ("--nvtx", "--nvtx-include=custom_kernel/")
_FROM_START_OFF = ("--profile-from-start=off",)
_END_EARLY = "--kill=yes"


def replay_mode(mode: CaptureMode) -> str:
    """Return how ncu repeats what it measures: launch by launch, or the whole range."""
    return "range" if mode is CaptureMode.RANGE else "kernel"


def capture_options(capture: CaptureOptions, choice: Choice | None = None) -> tuple[str, ...]:
    """Return ncu's options for `capture`; values are glued on, so none can become an option.

    With `choice` those launches are captured, and the program is ended when ncu has them.
    """
    return (
        "--set=" + SETS[capture.preset],
        # Refused in range replay: there is no one kernel whose source it could be.
        *(() if capture.mode is CaptureMode.RANGE else ("--import-source=yes",)),
        *(_FROM_START_OFF if capture.mode is CaptureMode.PROFILER_API else _RANGE),
        "--target-processes=all",
        "--cache-control=" + CACHE_CONTROL,
        "--clock-control=" + CLOCK_CONTROL,
        "--replay-mode=" + replay_mode(capture.mode),
        "--force-overwrite",
        *(_filter(capture) if choice is None else _chosen(choice)),
    )


def _filter(capture: CaptureOptions) -> tuple[str, ...]:
    options = [f"--launch-count={capture.launch_count}"]
    if capture.kernel_name is not None:
        options.append("--kernel-name=" + capture.kernel_name)
    if capture.kernel_name_base is not None:
        options.append("--kernel-name-base=" + capture.kernel_name_base)
    if capture.mode is CaptureMode.PROFILER_API:
        options.append(_END_EARLY)
    return tuple(options)


def _chosen(choice: Choice) -> tuple[str, ...]:
    return (
        f"--launch-count={choice.count}",
        "--kernel-id=" + choice.kernel_id_option,
        "--kernel-name-base=" + choice.base,
        _END_EARLY,
    )


def profiled(
    ncu: str,
    capture: CaptureOptions,
    report: Path,
    program: tuple[str, ...],
    choice: Choice | None = None,
) -> tuple[str, ...]:
    """Return the command that runs `program` under ncu and leaves `report`."""
    return (ncu, *capture_options(capture, choice), f"--export={report}", *program)


def timeline(nsys: str, report: Path, program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that records the cudaProfiler range of `program` into `report`."""
    return (
        nsys,
        "profile",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop",
        "--trace=cuda,nvtx",
        "--force-overwrite=true",
        f"--output={report}",
        *program,
    )


def kernel_sums(nsys: str, report: Path, scratch: Path) -> tuple[str, ...]:
    """Return the command whose standard output are a timeline's kernels by time, as CSV."""
    return (
        nsys,
        "stats",
        "--report=cuda_gpu_kern_sum",
        "--format=csv",
        "--output=-",
        "--force-export=true",
        f"--sqlite={scratch / 'timeline.sqlite'}",
        str(report),
    )


def evaluator(python: str, config: Evaluator, mode: Mode, spec_file: Path) -> tuple[str, ...]:
    """Return the evaluator's own command line; its working folder holds the problem's files."""
    if isinstance(config, CudaEvaluator):
        return ("./" + BINARY, mode.value, str(spec_file))
    return (python, config.main, mode.value, str(spec_file))


def compile_cuda(nvcc: str, config: CudaEvaluator) -> tuple[str, ...]:
    """Return the nvcc command that makes BINARY in the working folder."""
    defines = tuple(f"-D{name}={value}" for name, value in sorted(config.defines.items()))
    flags = ("-O3", "-std=c++17", "-lineinfo", "-arch=native")
    return (nvcc, *flags, *defines, *config.sources, "-ldl", "-o", BINARY)


def exports(ncu: str, report: Path) -> dict[str, tuple[str, ...]]:
    """Return the export commands by the kind of file that their standard output is."""
    details = (ncu, "--import", str(report), "--page", "details")
    return {
        "details_csv": (*details, "--csv"),
        "details_txt": details,
        "raw_csv": (ncu, "--import", str(report), "--page", "raw", "--csv"),
    }
