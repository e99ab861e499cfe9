"""The folder that a job's programs see. Never inside the folder of results."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.command import BINARY
from runner_client.wire import Benchmark, JobSpec

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Workspace:
    """`src` is the evaluator's working folder, `out` takes the report, `safe` is for exports."""

    root: Path

    @property
    def src(self) -> Path:
        """Return the folder with problem files and submission, flat."""
        return self.root / "src"

    @property
    def home(self) -> Path:
        """Return HOME of the evaluators, one for the whole job: it holds compile caches."""
        return self.root / "home"

    @property
    def tmp(self) -> Path:
        """Return TMPDIR of the evaluators."""
        return self.root / "tmp"

    @property
    def out(self) -> Path:
        """Return the folder for what ncu writes."""
        return self.root / "out"

    @property
    def safe(self) -> Path:
        """Return HOME and TMPDIR of exports: ncu runs rule files that lie in HOME."""
        return self.root / "safe"

    def write_files(self, spec: JobSpec) -> None:
        """Write every file of the problem and the submission anew."""
        for file in (*spec.files, spec.submission):
            _write_new(self.src / file.name, file.content)

    def write_spec(self, benchmark: Benchmark) -> Path:
        """Write the one line that the evaluator reads, without line end; return its path."""
        path = self.tmp / f"benchmark.{benchmark.index}.txt"
        _write_new(path, benchmark.spec)
        return path

    def report(self, benchmark: Benchmark) -> Path:
        """Return where ncu is told to write the report."""
        return self.out / f"profile.{benchmark.index}.ncu-rep"

    @property
    def binary(self) -> Path:
        """Return the compiled evaluator of a CUDA problem."""
        return self.src / BINARY


@contextmanager
def workspace(parent: Path, job_id: str) -> Iterator[Workspace]:
    """Make a fresh folder under `parent`; it and all in it is gone afterwards. Blocking."""
    parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=job_id[:8] + "-", dir=parent))
    work = Workspace(root)
    try:
        for folder in (work.src, work.home, work.tmp, work.out, work.safe):
            folder.mkdir(mode=0o700)
        yield work
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _write_new(path: Path, content: str) -> None:
    """Replace whatever a submission may have left under the name, a folder or a link too."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, _NEW, 0o644), "w", encoding="utf-8", newline="") as file:
        file.write(content)
