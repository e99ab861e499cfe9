"""How a job's programs see its folder: at its own path, or at fixed ones in a sandbox."""

from dataclasses import dataclass
from pathlib import Path

from runner.capture.workspace import Workspace
from runner.isolation.sandbox import Bind

_JOB = Path("/job")
_TMP = Path("/tmp")  # noqa: S108 - the name inside the sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Paths as programs see them; those of Workspace, and `reports` for a report to export."""

    src: Path
    home: Path
    tmp: Path
    out: Path
    given: Path
    safe: Path
    reports: Path


INSIDE = Places(
    src=_JOB / "src",
    home=_JOB / "home",
    tmp=_TMP,
    out=_JOB / "out",
    given=_JOB / "given",
    safe=_JOB / "safe",
    reports=_JOB / "reports",
)


def outside(work: Workspace, reports: Path) -> Places:
    """Return the paths on this machine; `reports` is the folder of taken reports."""
    return Places(
        src=work.src,
        home=work.home,
        tmp=work.tmp,
        out=work.out,
        given=work.given,
        safe=work.safe,
        reports=reports,
    )


def evaluator_binds(work: Workspace, files: tuple[str, ...]) -> tuple[Bind, ...]:
    """Return what nvcc, the import and the evaluator see; `files` in `src` are read-only."""
    return (
        Bind(work.src, INSIDE.src, writable=True),
        *(Bind(work.src / name, INSIDE.src / name) for name in files),
        Bind(work.home, INSIDE.home, writable=True),
        Bind(work.tmp, INSIDE.tmp, writable=True),
        Bind(work.out, INSIDE.out, writable=True),
        Bind(work.given, INSIDE.given),
    )


def export_binds(work: Workspace, report: Path) -> tuple[Bind, ...]:
    """Return what `ncu --import` sees: a report, and a home that no submission has written to."""
    return (
        Bind(report, INSIDE.reports / report.name),
        Bind(work.safe, INSIDE.safe, writable=True),
        Bind(work.safe, INSIDE.tmp, writable=True),
    )
