"""task.yml and the files that it names -> Task."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeGuard, TypeVar

import msgspec
from msgspec import Meta, Struct

from bot.leaderboards.decode import choice, decode, fault, unknown_keys
from bot.leaderboards.digest import SUBMISSION
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.files import MAX_TASK_BYTES, ProblemFiles, reason_of
from bot.leaderboards.model import Case, CaseValue, ProblemFile, Task, spec_line
from bot.leaderboards.yaml import Document, Place
from runner_client.wire import CudaEvaluator, Evaluator, FileName, PythonEvaluator

TASK_FILE = "task.yml"
MAX_FILES = 200
MAX_CASES = 1_000
MAX_SPEC = 1_024
"""What the wire takes of a case's line."""
T = TypeVar("T", bound=Struct)
LANGUAGES = ("py", "cu")
RANKINGS = ("last", "mean", "geom")
TEMPLATES = ("CUDA", "Python", "Triton", "HIP", "CuteDSL")
Timeout = Annotated[float, Meta(gt=0, le=86_400)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Cases = Annotated[tuple[dict[str, object], ...], Meta(max_length=MAX_CASES)]


class _File(Struct):
    name: FileName
    source: Annotated[str, Meta(min_length=1, max_length=1_000)]


class _PythonConfig(Struct):
    main: FileName


class _CudaConfig(Struct):
    sources: Annotated[tuple[FileName, ...], Meta(min_length=1, max_length=50)]
    include_dirs: tuple[str, ...] = ()
    defines: dict[str, str | int | float | bool] = {}
    compile_flags: tuple[str, ...] = ()


class _Task(Struct):
    files: Annotated[tuple[_File, ...], Meta(min_length=1, max_length=MAX_FILES)]
    lang: str
    config: dict[str, object]
    description: Annotated[str, Meta(max_length=100_000)]
    tests: Cases = ()
    benchmarks: Cases = ()
    test_timeout: Timeout = 180
    benchmark_timeout: Timeout = 180
    ranked_timeout: Timeout = 180
    ranking_by: str = "last"
    templates: dict[str, str] = {}
    gpus: tuple[Annotated[str, Meta(min_length=1, max_length=100)], ...] = ()
    multi_gpu: bool = False
    seed: Seed | None = None
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A task and what its author should mend although it can be used; `document` has the lines."""

    task: Task
    document: Document
    warnings: tuple[str, ...]


def load_task(directory: Path, root: Path) -> Task:
    """Read `directory/task.yml`; no file that it names may lie outside `root`.

    `source` entries are relative to the YAML and may climb (`../eval.py`), but neither by `..` nor
    by a link out of `root`. Raises GrammarError.
    """
    return read_task(directory, ProblemFiles(root)).task


def read_task(directory: Path, root: ProblemFiles) -> Reading:
    """Read `directory/task.yml` with its warnings. Raises GrammarError."""
    file = directory / TASK_FILE
    try:
        document = root.document(file)
        return _Reader(document, directory, root).reading()
    except (OSError, ValueError) as error:
        raise GrammarError(root.name(file), reason_of(error)) from None


class _Reader:
    """One task.yml; every method raises ValueError with line, key and expectation."""

    def __init__(self, document: Document, directory: Path, root: ProblemFiles) -> None:
        self.document = document
        self.directory = directory
        self.root = root
        self.warnings: list[str] = []

    def reading(self) -> Reading:
        raw = self.decode(_Task)
        choice(self.document, ("lang",), raw.lang, LANGUAGES)
        choice(self.document, ("ranking_by",), raw.ranking_by, RANKINGS)
        for language in raw.templates:
            choice(self.document, ("templates", language), language, TEMPLATES)
        evaluator = self.evaluator(raw)
        task = Task(
            files=self.files(raw, evaluator),
            evaluator=evaluator,
            description=raw.description,
            tests=self.cases("tests", raw.tests),
            benchmarks=self.cases("benchmarks", raw.benchmarks),
            test_timeout=raw.test_timeout,
            benchmark_timeout=raw.benchmark_timeout,
            ranked_timeout=raw.ranked_timeout,
            ranking_by=raw.ranking_by,
            templates={
                language: self.text(source, ("templates", language))
                for language, source in raw.templates.items()
            },
            gpus=raw.gpus,
            multi_gpu=raw.multi_gpu,
            seed=raw.seed,
        )
        return Reading(task, self.document, tuple(self.warnings))

    def decode(self, kind: type[T], place: Place = ()) -> T:
        """Convert a mapping and note its unknown keys."""
        value = decode(self.document, kind, place)
        self.warnings += unknown_keys(self.document, kind, place)
        return value

    def evaluator(self, raw: _Task) -> Evaluator:
        if raw.lang == "py":
            return PythonEvaluator(main=self.decode(_PythonConfig, ("config",)).main)
        config = self.decode(_CudaConfig, ("config",))
        defines = {name: str(value) for name, value in config.defines.items()}
        value = {"lang": "cu", "sources": config.sources, "defines": defines}
        try:
            return msgspec.convert(value, CudaEvaluator)
        except msgspec.ValidationError:
            words = "expected macro names of letters, digits and `_`, with short values"
            raise fault(self.document, ("config", "defines"), words) from None

    def files(self, raw: _Task, evaluator: Evaluator) -> tuple[ProblemFile, ...]:
        for index in range(len(raw.files)):
            self.warnings += unknown_keys(self.document, _File, ("files", index))
        names = [entry.name for entry in raw.files]
        self.check_names(names)
        if sum(entry.source == SUBMISSION for entry in raw.files) != 1:
            words = f"expected exactly one entry with the source {SUBMISSION}"
            raise fault(self.document, ("files",), words)
        self.check_sources(evaluator, names)
        files = tuple(self.file(entry, index) for index, entry in enumerate(raw.files))
        if sum(len(file.content or "") for file in files) > MAX_TASK_BYTES:
            words = f"expected at most {MAX_TASK_BYTES:,} characters in all files together"
            raise fault(self.document, ("files",), words)
        return files

    def check_names(self, names: list[str]) -> None:
        for index, name in enumerate(names):
            if name in names[:index]:
                place = ("files", index, "name")
                raise fault(self.document, place, f"`{name}` stands twice in `files`")

    def check_sources(self, evaluator: Evaluator, names: Iterable[str]) -> None:
        python = isinstance(evaluator, PythonEvaluator)
        sources = (evaluator.main,) if isinstance(evaluator, PythonEvaluator) else evaluator.sources
        for index, name in enumerate(sources):
            if name not in names:
                place = ("config", "main") if python else ("config", "sources", index)
                raise fault(self.document, place, f"expected a name from `files`, not `{name}`")

    def file(self, entry: _File, index: int) -> ProblemFile:
        if entry.source == SUBMISSION:
            return ProblemFile(entry.name, None)
        return ProblemFile(entry.name, self.text(entry.source, ("files", index, "source")))

    def text(self, source: str, place: Place) -> str:
        try:
            return self.root.text(self.directory / source)
        except (OSError, ValueError) as error:
            reason = reason_of(error)
            raise fault(self.document, place, f"`{source[:200]}` {_verb(reason)}") from None

    def cases(self, key: str, raw: tuple[dict[str, object], ...]) -> tuple[Case, ...]:
        return tuple(self.case(case, (key, index)) for index, case in enumerate(raw))

    def case(self, raw: dict[str, object], place: Place) -> Case:
        """A case becomes one line of `k: v; k: v`; nothing in it may break out of its field."""
        case: Case = {}
        for name, value in raw.items():
            if not _is_case_value(value):
                words = "expected a whole number, text, true or false, or a list of whole numbers"
                raise fault(self.document, (*place, name), words)
            if any(mark in f"{name}{value}" for mark in ";\n\r\0"):
                words = "expected neither a semicolon nor a line break"
                raise fault(self.document, (*place, name), words)
            case[name] = value
        if not case or len(spec_line(case)) > MAX_SPEC:
            words = f"expected at least one value, and {MAX_SPEC:,} characters at most"
            raise fault(self.document, place, words)
        return case


def _verb(reason: str) -> str:
    """Make `no such file or directory` fit behind the name of a file."""
    return reason if reason.startswith(("is ", "leads ", "its ")) else f"cannot be read: {reason}"


def _is_case_value(value: object) -> TypeGuard[CaseValue]:
    if isinstance(value, list):
        return all(type(entry) is int for entry in value)
    return isinstance(value, int | str)
