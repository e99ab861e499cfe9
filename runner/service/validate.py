"""What a JobSpec must hold beyond its types."""

import hashlib

from runner_client.captures import CaptureMode
from runner_client.wire import CudaEvaluator, JobSpec, Mode


class Invalid(Exception):  # noqa: N818 - an answer
    """A spec that cannot be run; the text names the field."""


def validate(spec: JobSpec, gpu: str, offered: tuple[CaptureMode, ...]) -> None:
    """Check `spec` against itself, the runner's GPU and its capture modes. Raises Invalid."""
    if gpu and spec.gpu.casefold() != gpu.casefold():
        raise Invalid(f"gpu: this runner has {gpu}, not {spec.gpu}")
    names = [file.name for file in (*spec.files, spec.submission)]
    if len(set(names)) != len(names):
        raise Invalid("files: a name occurs twice")
    for name in _entry_points(spec):
        if name not in names:
            raise Invalid(f"evaluator: {name} is not among the files")
    _check_benchmarks(spec)
    if hashlib.sha256(spec.submission.content.encode()).hexdigest() != spec.submission_sha256:
        raise Invalid("submission_sha256: not the hash of the submission")
    if "\0" in (spec.capture.kernel_name or ""):
        raise Invalid("capture.kernel_name: holds a NUL character")
    if spec.mode is Mode.PROFILE and spec.capture.mode not in offered:
        raise Invalid(f"capture.mode: this runner does not offer {spec.capture.mode.value}")


def _entry_points(spec: JobSpec) -> tuple[str, ...]:
    if isinstance(spec.evaluator, CudaEvaluator):
        return spec.evaluator.sources
    return (spec.evaluator.main,)


def _check_benchmarks(spec: JobSpec) -> None:
    indices = [benchmark.index for benchmark in spec.benchmarks]
    if len(set(indices)) != len(indices):
        raise Invalid("benchmarks: an index occurs twice")
    for benchmark in spec.benchmarks:
        if not benchmark.spec.strip() or len(benchmark.spec.splitlines()) != 1:
            raise Invalid(f"benchmarks: the spec of index {benchmark.index} is not one line")
