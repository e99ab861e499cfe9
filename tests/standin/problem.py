"""A problem whose evaluator needs neither GPU nor PyTorch, and jobs for it."""

import hashlib
import uuid

from msgspec.structs import replace

from runner_client.captures import CaptureOptions
from runner_client.wire import Benchmark, CudaEvaluator, JobSpec, Mode, PythonEvaluator, SourceFile

EVALUATOR = """
import os
import sys


def main():
    if "POPCORN_FD" not in os.environ:
        return 111
    pipe = os.fdopen(int(os.environ["POPCORN_FD"]), "w")

    def log(key, value):
        print(f"{key}: {value}", file=pipe, flush=True)

    mode, path = sys.argv[1:]
    if mode not in ("test", "benchmark", "profile"):
        return 2
    with open(path) as file:
        line = file.read()
    kind = "test" if mode == "test" else "benchmark"
    log(f"{kind}-count", 1)
    log(f"{kind}.0.spec", line)
    from submission import custom_kernel

    good = custom_kernel(line) == line.upper()
    log(f"{kind}.0.status", "pass" if good else "fail")
    if not good:
        log(f"{kind}.0.error", "not in capitals")
    log("check", "pass" if good else "fail")
    return 0 if good else 112


if __name__ == "__main__":
    sys.exit(main())
"""
GOOD = "def custom_kernel(line):\n    return line.upper()\n"
WRONG = "def custom_kernel(line):\n    return line\n"
SPECS = ("size: 1024; seed: 31232", "size: 2048; seed: 4052")


def replaying(recording: str, lag_s: float = 0.0) -> str:
    """Return a submission for which the stand-in ncu replays a recording."""
    return f"# standin: {recording}\n# standin-lag: {lag_s}\n{GOOD}"


def job(
    source: str = GOOD, mode: Mode = Mode.PROFILE, count: int = 1, **changes: object
) -> JobSpec:
    """Return a job with `count` benchmarks; `changes` replace fields of the spec."""
    spec = JobSpec(
        id=uuid.uuid4().hex,
        requester="user-1",
        leaderboard="capitals",
        problem_commit="0" * 40,
        gpu="H200",
        mode=mode,
        evaluator=PythonEvaluator(main="eval.py"),
        files=(SourceFile(name="eval.py", content=EVALUATOR),),
        submission=SourceFile(name="submission.py", content=source),
        benchmarks=tuple(Benchmark(index=n, spec=SPECS[n % 2]) for n in range(count)),
        capture=CaptureOptions(),
        timeout_s=20.0,
        seed=None,
        config_sha256="1" * 64,
        submission_sha256=hashlib.sha256(source.encode()).hexdigest(),
    )
    return replace(spec, **changes)


def cuda_job(source: str, mode: Mode = Mode.PROFILE) -> JobSpec:
    """Return a job of a CUDA problem."""
    return job(
        source,
        mode,
        evaluator=CudaEvaluator(sources=("eval.cu", "submission.cu"), defines={"N": "4"}),
        files=(SourceFile(name="eval.cu", content="int main() {}\n"),),
        submission=SourceFile(name="submission.cu", content=source),
    )
