"""A job's folder, and what its programs see of it. Never inside the folder of results."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.capture.command import BINARY
from runner.isolation.cell import Account
from runner.isolation.trees import remove_tree
from runner_client.captures import CaptureMode
from runner_client.wire import Benchmark, JobSpec

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Workspace:
    """`src` is the evaluator's working folder, `out` takes the report, `safe` is for exports.

    `given` holds what programs may only read. `gpu` is the job's GPU as CUDA_VISIBLE_DEVICES names
    it; empty where the machine lists none.
    """

    root: Path
    gpu: str = ""

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

    @property
    def given(self) -> Path:
        """Return the folder of benchmark lines and of a compiled evaluator."""
        return self.root / "given"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return every folder that programs write to."""
        return (self.src, self.home, self.tmp, self.out, self.safe)

    def write_files(self, spec: JobSpec) -> None:
        """Make `src` anew, with the problem's files, the submission and a compiled evaluator.

        Nothing that an earlier program left there, such as a module of the name of another, meets
        the next evaluator.
        """
        for left in tuple(self.src.iterdir()):
            remove_tree(left)
        for file in (*spec.files, spec.submission):
            _write_new(self.src / file.name, file.content)
        if (self.given / BINARY).is_file():
            shutil.copy(self.given / BINARY, self.src / BINARY)

    def keep_binary(self) -> None:
        """Put what nvcc made out of reach. Raises OSError where it made no plain file."""
        descriptor = os.open(self.src / BINARY, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as made, (self.given / BINARY).open("wb") as kept:
            shutil.copyfileobj(made, kept)
        (self.given / BINARY).chmod(0o755)

    def write_spec(self, benchmark: Benchmark) -> str:
        """Write the one line that the evaluator reads, without line end; return the file's name."""
        path = self.given / f"benchmark.{benchmark.index}.txt"
        _write_new(path, benchmark.spec)
        return path.name

    def changed(self, spec: JobSpec) -> tuple[str, ...]:
        """Return the names of the problem's files in `src` that are not as they were written."""
        expected = {file.name: _digest(file.content.encode()) for file in spec.files}
        if (self.given / BINARY).is_file():
            expected[BINARY] = _digest((self.given / BINARY).read_bytes())
        return tuple(name for name, sha in expected.items() if _found(self.src / name) != sha)

    def give_to(self, account: Account) -> None:
        """Let a user write to the folders of programs. Raises OSError."""
        self.given.chmod(0o755)
        for folder in (self.root, *self.folders):
            os.chown(folder, account.uid, account.gid)

    def report(self, benchmark: Benchmark, mode: CaptureMode = CaptureMode.FIRST) -> Path:
        """Return where the profiler is told to write the report."""
        return self.out / report_file(benchmark, mode)


@contextmanager
def workspace(parent: Path, job_id: str, gpu: str = "") -> Iterator[Workspace]:
    """Make a fresh folder under `parent`; it and all in it is gone afterwards. Blocking."""
    parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=job_id[:8] + "-", dir=parent))
    work = Workspace(root, gpu)
    try:
        for folder in (*work.folders, work.given):
            folder.mkdir(mode=0o700)
        yield work
    finally:
        remove_tree(root)


def report_file(benchmark: Benchmark, mode: CaptureMode = CaptureMode.FIRST) -> str:
    """Return the name of the report that the profiler writes."""
    return f"profile.{benchmark.index}{report_suffix(mode)}"


def report_suffix(mode: CaptureMode) -> str:
    """Return the suffix of a report: Nsight Systems has its own."""
    return ".nsys-rep" if mode is CaptureMode.TIMELINE else ".ncu-rep"


def _write_new(path: Path, content: str) -> None:
    """Replace whatever a submission may have left under the name, a folder or a link too."""
    remove_tree(path)
    with os.fdopen(os.open(path, _NEW, 0o644), "w", encoding="utf-8", newline="") as file:
        file.write(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _found(path: Path) -> str:
    """Return the hash of a plain file; empty where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return hashlib.file_digest(file, "sha256").hexdigest()
