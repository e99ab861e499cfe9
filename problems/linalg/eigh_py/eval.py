"""Evaluator of eigh: `python3 eval.py test|benchmark|leaderboard|profile CASE_FILE`.

This process reads the cases and writes the results. The submission runs in a spawned worker,
which inherits neither the result pipe nor the seed. `profile` works under Nsight Compute only.
"""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import torch
from reference import check_implementation, generate_input
from task import InputType, OutputType
from utils import (
    EXIT_BAD_CASES,
    EXIT_NO_PIPE,
    EXIT_USAGE,
    Arguments,
    Log,
    Outcome,
    enough,
    log_cases,
    read_cases,
    reseed,
    summarize,
    take_seed,
)


def start_worker(seed: int) -> None:
    torch.manual_seed(seed)


def submitted_kernel() -> Callable[[InputType], OutputType]:
    """The submitted function, imported late so that only the worker ever imports it."""
    from submission import custom_kernel

    return custom_kernel


def test_case(arguments: Arguments) -> Outcome:
    data = generate_input(**arguments)
    output = submitted_kernel()(data.clone())
    torch.cuda.synchronize()
    return Outcome(check_implementation(data, output))


def time_case(arguments: Arguments, recheck: bool) -> Outcome:
    """Time launches with a cold L2; with `recheck` each has inputs of its own and is checked."""
    custom_kernel = submitted_kernel()
    data = generate_input(**arguments)
    error = check_implementation(data, custom_kernel(data.clone()))
    if error is not None:
        return Outcome(error)
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    # Filling it flushes L2, and takes longer than queueing a launch: host time stays out.
    scratch = torch.empty(8 * l2_bytes, dtype=torch.uint8, device="cuda")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times: list[float] = []
    began = time.monotonic()
    while not enough(times, time.monotonic() - began):
        if recheck:
            arguments = {**arguments, "seed": int(arguments["seed"]) + 1}
            data = generate_input(**arguments)
        cloned = data.clone()
        scratch.zero_()
        # A no-op unless a developer's own profiler waits for it (ncu --profile-from-start off).
        with torch.cuda.profiler.profile():
            start.record()
            output = custom_kernel(cloned)
            end.record()
            torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e6)
        error = check_implementation(data, output) if recheck else None
        if error is not None:
            return Outcome(error)
    return Outcome(extra=summarize(times))


def profile_case(arguments: Arguments) -> Outcome:
    """One call inside the range that ncu selects; all set-up before it, the check after it."""
    custom_kernel = submitted_kernel()
    data = generate_input(**arguments)
    custom_kernel(data.clone())  # JIT compilation and tuning launch kernels of their own
    cloned = data.clone()
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("custom_kernel"):
        output = custom_kernel(cloned)
        torch.cuda.synchronize()
    return Outcome(check_implementation(data, output))


WORK: dict[str, Callable[[Arguments], Outcome]] = {
    "test": test_case,
    "benchmark": partial(time_case, recheck=False),
    "leaderboard": partial(time_case, recheck=True),
    "profile": profile_case,
}


def main() -> int:
    log = Log.from_environment()
    if log is None:
        return EXIT_NO_PIPE
    if len(sys.argv) != 3 or sys.argv[1] not in WORK:
        print(f"usage: eval.py {'|'.join(WORK)} CASE_FILE", file=sys.stderr)
        return EXIT_USAGE
    mode, path = sys.argv[1:]
    if mode == "profile" and os.environ.get("POPCORN_NCU") != "1":
        print("profile needs Nsight Compute (ncu) and POPCORN_NCU=1", file=sys.stderr)
        return EXIT_USAGE
    try:
        cases = read_cases(path)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return EXIT_BAD_CASES
    seed = take_seed()
    cases = [reseed(case, seed) for case in cases]
    initial = 42 if seed is None else seed
    with ProcessPoolExecutor(1, get_context("spawn"), start_worker, (initial,)) as pool:
        return log_cases(log, mode, cases, lambda case: pool.submit(WORK[mode], case).result())


if __name__ == "__main__":
    sys.exit(main())
