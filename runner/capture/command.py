"""The command lines, as pure functions: evaluator, ncu around it, exports, nvcc."""

from pathlib import Path

from runner_client.wire import CaptureOptions, CudaEvaluator, Evaluator, Mode

SET = "full"
CACHE_CONTROL = "all"
CLOCK_CONTROL = "none"
REPLAY_MODE = "kernel"
BINARY = "eval.out"


def capture_options(capture: CaptureOptions) -> tuple[str, ...]:
    """Return ncu's options for `capture`; values are glued on, so none can become an option."""
    options = [
        "--set=" + SET,
        "--import-source=yes",
        "--nvtx",
        "--nvtx-include=custom_kernel/",
        "--target-processes=all",
        "--cache-control=" + CACHE_CONTROL,
        "--clock-control=" + CLOCK_CONTROL,
        "--replay-mode=" + REPLAY_MODE,
        "--force-overwrite",
        f"--launch-count={capture.launch_count}",
    ]
    if capture.kernel_name is not None:
        options.append("--kernel-name=" + capture.kernel_name)
    if capture.kernel_name_base is not None:
        options.append("--kernel-name-base=" + capture.kernel_name_base)
    return tuple(options)


def profiled(
    ncu: str, capture: CaptureOptions, report: Path, program: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the command that runs `program` under ncu and leaves `report`."""
    return (ncu, *capture_options(capture), f"--export={report}", *program)


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
