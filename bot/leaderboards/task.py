"""task.yml and the files that it names -> Task."""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from bot.leaderboards.digest import SUBMISSION
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.model import Case, ProblemFile, Task, spec_line
from bot.leaderboards.yaml import read_yaml
from runner_client.wire import (
    CudaEvaluator,
    Evaluator,
    FileName,
    PythonEvaluator,
    ShortText,
    SourceFile,
)

TASK_FILE = "task.yml"
MAX_FILE_BYTES = 4_000_000
MAX_FILES = 200
T = TypeVar("T")
Timeout = Annotated[float, Meta(gt=0, le=86_400)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _File(Struct, forbid_unknown_fields=True):
    name: FileName
    source: Annotated[str, Meta(min_length=1)]


class _PythonConfig(Struct, forbid_unknown_fields=True):
    main: FileName


class _CudaConfig(Struct, forbid_unknown_fields=True):
    sources: Annotated[tuple[FileName, ...], Meta(min_length=1, max_length=50)]
    include_dirs: tuple[str, ...] = ()
    defines: dict[str, str | int | float | bool] = {}
    compile_flags: tuple[str, ...] = ()


class _Task(Struct, forbid_unknown_fields=True):
    files: Annotated[tuple[_File, ...], Meta(min_length=1, max_length=MAX_FILES)]
    lang: Literal["py", "cu"]
    config: dict[str, object]
    description: str
    tests: tuple[Case, ...] = ()
    benchmarks: tuple[Case, ...] = ()
    test_timeout: Timeout = 180
    benchmark_timeout: Timeout = 180
    ranked_timeout: Timeout = 180
    ranking_by: Literal["last", "mean", "geom"] = "last"
    templates: dict[Literal["CUDA", "Python", "Triton", "HIP", "CuteDSL"], str] = field(
        default_factory=dict
    )
    gpus: tuple[ShortText, ...] = ()
    multi_gpu: bool = False
    seed: Seed | None = None
    libraries: tuple[str, ...] = ()


def load_task(directory: Path, root: Path) -> Task:
    """Read `directory/task.yml`; no file that it names may lie outside `root`.

    `source` entries are relative to the YAML and may climb (`../eval.py`), but neither by `..` nor
    by a link out of `root`. Raises GrammarError.
    """
    where = _Place(directory, root)
    raw = where.decode(where.document(), _Task)
    evaluator = _evaluator(where, raw)
    files = tuple(where.problem_file(entry) for entry in raw.files)
    _check_files(where, files, evaluator)
    for key, cases in (("tests", raw.tests), ("benchmarks", raw.benchmarks)):
        for index, case in enumerate(cases):
            _check_case(where, f"{key}[{index}]", case)
    return Task(
        files=files,
        evaluator=evaluator,
        description=raw.description,
        tests=raw.tests,
        benchmarks=raw.benchmarks,
        test_timeout=raw.test_timeout,
        benchmark_timeout=raw.benchmark_timeout,
        ranked_timeout=raw.ranked_timeout,
        ranking_by=raw.ranking_by,
        templates={lang: where.text(source) for lang, source in raw.templates.items()},
        gpus=raw.gpus,
        multi_gpu=raw.multi_gpu,
        seed=raw.seed,
    )


class _Place:
    """A problem's folder inside the folder that confines it."""

    def __init__(self, directory: Path, root: Path) -> None:
        self.root = root.resolve()
        self.directory = directory
        self.file = relative(directory / TASK_FILE, root)

    def error(self, reason: str) -> GrammarError:
        return GrammarError(self.file, reason)

    def document(self) -> object:
        try:
            return read_yaml(self.inside(TASK_FILE))
        except (OSError, ValueError) as error:
            raise self.error(reason_of(error)) from None

    def decode(self, value: object, kind: type[T], at: str = "") -> T:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise self.error(f"{at}{error}") from None

    def problem_file(self, entry: _File) -> ProblemFile:
        if entry.source == SUBMISSION:
            return ProblemFile(entry.name, None)
        return ProblemFile(entry.name, self.text(entry.source))

    def text(self, source: str) -> str:
        path = self.inside(source)
        try:
            if not path.is_file():
                raise self.error(f"`{source}` is no file")
            if path.stat().st_size > MAX_FILE_BYTES:
                raise self.error(f"`{source}` is larger than {MAX_FILE_BYTES:,} bytes")
            return path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise self.error(f"`{source}`: {reason_of(error)}") from None

    def inside(self, source: str) -> Path:
        try:
            path = (self.directory / source).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise self.error(f"`{source}`: {reason_of(error)}") from None
        if not path.is_relative_to(self.root):
            raise self.error(f"`{source}` leads out of the problem repository")
        return path


def _evaluator(where: _Place, raw: _Task) -> Evaluator:
    if raw.lang == "py":
        return PythonEvaluator(main=where.decode(raw.config, _PythonConfig, "config: ").main)
    config = where.decode(raw.config, _CudaConfig, "config: ")
    defines = {name: str(value) for name, value in config.defines.items()}
    evaluator = CudaEvaluator(sources=config.sources, defines=defines)
    return where.decode(msgspec.to_builtins(evaluator), CudaEvaluator, "config: ")


def _check_files(where: _Place, files: tuple[ProblemFile, ...], evaluator: Evaluator) -> None:
    names = [file.name for file in files]
    if len(set(names)) != len(names):
        raise where.error("`files` names a file twice")
    if sum(file.content is None for file in files) != 1:
        raise where.error(f"`files` needs exactly one entry with the source {SUBMISSION}")
    sources = evaluator.sources if isinstance(evaluator, CudaEvaluator) else (evaluator.main,)
    for name in sources:
        if name not in names:
            raise where.error(f"`config` names `{name}`, which is not in `files`")
    for file in files:
        # The wire counts characters; what passes here passes there.
        where.decode({"name": file.name, "content": file.content or ""}, SourceFile)


def _check_case(where: _Place, key: str, case: Case) -> None:
    """A case becomes one line of `k: v; k: v`; nothing in it may break out of its field."""
    for name, value in case.items():
        if any(mark in f"{name}{value}" for mark in ";\n\r\0"):
            raise where.error(f"`{key}`: no semicolon or line break may stand in `{name}`")
    if not case:
        raise where.error(f"`{key}`: expected at least one value")
    where.decode(spec_line(case), ShortText, f"{key}: ")


def relative(path: Path, root: Path) -> str:
    """Name `path` the way its author knows it, from the folder that was given."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


def reason_of(error: Exception) -> str:
    """Say in a few words what the system or a decoder had against a file."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return " ".join(str(error).split())
