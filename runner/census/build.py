"""Builds the census library on this machine, once for each CUDA toolkit."""

import asyncio
import hashlib
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

from runner.capture.environment import base_environment
from runner.census.model import Library, Missing
from runner.census.toolkit import NoToolkit, Toolkit, find
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.settings import EngineName, RunnerSettings
from runner.text import one_line

SOURCE = Path(__file__).parent / "census.c"
SOURCES = (SOURCE, SOURCE.with_name("table.h"))
NAME = "libncubot-census.so"
COMPILERS = ("gcc", "cc", "clang")
TIMEOUT_S = 60.0
_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden")
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).InitializeInjectionNvtx2"
# Not by an import, which takes seconds.
_TORCH = """
import importlib.util, pathlib, re
found = importlib.util.find_spec("torch")
if found is not None and found.origin:
    text = (pathlib.Path(found.origin).parent / "version.py").read_text()
    print(*re.findall(r"^cuda[^=]*= *['\\"]([0-9.]+)", text, re.MULTILINE))
"""


class _Failed(Exception):  # noqa: N818 - named for what happened
    """A step of the build did not work; the text says why."""


async def library(settings: RunnerSettings) -> Library | Missing:
    """Return the library, built where it is not there yet; at most seconds. Never raises.

    Missing where it cannot be built, and where the evaluators' PyTorch is made for another CUDA
    than the toolkit: two versions of CUPTI in one process trace nothing.
    """
    if settings.engine is EngineName.RECORDED:
        return Missing("no program is run, captures are replayed")
    try:
        toolkit = await asyncio.to_thread(find, settings.nvcc)
        await _same_cuda(settings, toolkit)
        return await _built(settings.folder / "census", toolkit)
    except (NoToolkit, _Failed) as error:
        return Missing(one_line(str(error), 300))
    except OSError as error:
        return Missing(one_line(f"{settings.folder}: {error.strerror}", 300))


async def _same_cuda(settings: RunnerSettings, toolkit: Toolkit) -> None:
    said = await _run((settings.python, "-c", _TORCH), Path(tempfile.gettempdir()))
    torch = said.stdout.strip() if said.exit_code == 0 else ""
    if torch and torch.partition(".")[0] != toolkit.major:
        raise _Failed(f"PyTorch is made for CUDA {torch}, the toolkit is CUDA {toolkit.cuda}")


async def _built(parent: Path, toolkit: Toolkit) -> Library:
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise _Failed("no C compiler (gcc) was found")
    key = await asyncio.to_thread(_key, compiler, toolkit)
    path = parent / key / NAME
    if not path.is_file():
        await _build(path, compiler, toolkit)
    return Library(path=path, cupti=toolkit.cupti.resolve().parent, cuda=toolkit.cuda)


def _key(compiler: str, toolkit: Toolkit) -> str:
    cupti = toolkit.cupti.resolve()
    stat = cupti.stat()
    made_of = (
        compiler,
        toolkit.cuda,
        str(cupti),
        str(stat.st_size),
        str(stat.st_mtime_ns),
        *_FLAGS,
    )
    sources = b"".join(source.read_bytes() for source in SOURCES)
    return hashlib.sha256("\0".join(made_of).encode() + sources).hexdigest()[:32]


async def _build(path: Path, compiler: str, toolkit: Toolkit) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Jobs on several GPUs may build at once; the one that is done last replaces its like.
    made = path.with_name(f".{uuid.uuid4().hex}.so")
    try:
        compiled = await _run(_command(compiler, toolkit, made), path.parent)
        if compiled.exit_code:
            error = _first_error(compiled)
            raise _Failed(f"it does not compile with CUDA {toolkit.cuda}: {error}")
        loaded = await _run((sys.executable, "-c", _LOAD, str(made)), path.parent)
        if loaded.exit_code:
            raise _Failed(f"it cannot be loaded: {_last_line(loaded)}")
        made.chmod(0o755)
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def _command(compiler: str, toolkit: Toolkit, made: Path) -> tuple[str, ...]:
    libraries = toolkit.cupti.resolve().parent
    return (
        compiler,
        *_FLAGS,
        *(f"-I{folder}" for folder in toolkit.includes),
        *("-o", str(made), str(SOURCE)),
        *(str(toolkit.cupti), f"-Wl,-rpath,{libraries}", "-Wl,-z,nodelete", "-ldl", "-lpthread"),
    )


async def _run(argv: tuple[str, ...], folder: Path) -> Finished:
    env = base_environment(folder, folder)
    try:
        return await run(Command(argv=argv, cwd=folder, env=env, wall_s=TIMEOUT_S))
    except CannotStart as error:
        raise _Failed(str(error)) from error


def _first_error(finished: Finished) -> str:
    lines = [line for line in finished.stderr.splitlines() if "error" in line.lower()]
    return lines[0] if lines else f"status {finished.exit_code}"


def _last_line(finished: Finished) -> str:
    return next(iter(finished.stderr.strip().splitlines()[::-1]), f"status {finished.exit_code}")
