"""What a hostile submission is, and what must become of it.

`{token}` stands for the runner's token and `{port}` for its port.
"""

from dataclasses import dataclass

from runner_client.wire import BenchmarkStatus, FailureKind, Mode
from tests.hostile.problem import submission

SHORT_S = 0.15
"""A task's limit for those that do not end; ten times of it under ncu."""
LONG_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A submission: `body` is its `custom_kernel`, `before` runs at its import.

    `kind` is None where it does no harm and is captured as any other. `shows` must stand in what it
    printed, `hides` must not. `kernels` are in the counter table.
    """

    name: str
    body: str
    before: str = ""
    kind: FailureKind | None = None
    status: BenchmarkStatus = BenchmarkStatus.FAILED
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ("WORKED",)
    kernels: int = 0
    mode: Mode = Mode.PROFILE
    count: int = 1
    timeout_s: float = LONG_S

    @property
    def source(self) -> str:
        """Return the submission; one that is to be captured launches a kernel and ends well."""
        end = "\nlaunch()\nreturn line.upper()" if self.kind is None else ""
        return submission(self.body + end, self.before)


def fine(name: str, body: str, *shows: str, kernels: int = 1, **more: object) -> Case:
    """Return a case that is contained so well that its capture succeeds."""
    status = BenchmarkStatus.SUCCEEDED
    return Case(name=name, body=body, shows=shows, status=status, kernels=kernels, **more)  # type: ignore[arg-type]


def ended(name: str, kind: FailureKind, body: str, *shows: str, **more: object) -> Case:
    """Return a case that fails with a kind."""
    return Case(name=name, body=body, shows=shows, kind=kind, **more)  # type: ignore[arg-type]
