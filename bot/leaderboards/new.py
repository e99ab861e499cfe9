"""A new problem's files, made from the sample problems that come with the bot."""

import re
from importlib.resources import files
from pathlib import Path

from bot.leaderboards.errors import SourceError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_SAMPLE = re.compile(r"(POPCORN leaderboard |Evaluator of )(vectoradd|saxpy_cuda)\b")
_PYTHON = {
    "eval.py": "eval.py",
    "utils.py": "utils.py",
    "reference.py": "vectoradd/reference.py",
    "task.py": "vectoradd/task.py",
    "template.py": "vectoradd/template.py",
    "task.yml": "vectoradd/task.yml",
}
_CUDA = {name: f"saxpy_cuda/{name}" for name in ("eval.cu", "task.h", "template.cu", "task.yml")}
SAMPLES = {"py": _PYTHON, "cu": _CUDA}


def new_problem(folder: Path, language: str) -> tuple[Path, ...]:
    """Write a problem that works as it is, for its author to change; return its files.

    Raises SourceError where the folder is there already, has no usable name or cannot be written.
    """
    if _NAME.fullmatch(folder.name) is None:
        raise SourceError(str(folder), "expected a name of letters, digits, dots, - and _")
    sample = files("problems").joinpath("nvidia")
    try:
        folder.mkdir(parents=True)
        written = []
        for name, source in SAMPLES[language].items():
            text = sample.joinpath(source).read_text(encoding="utf-8")
            (folder / name).write_text(_own(text, folder.name), encoding="utf-8")
            written.append(folder / name)
    except FileExistsError:
        raise SourceError(str(folder), "is there already, and nothing was changed") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(str(folder), f"cannot be written: {reason}") from None
    return tuple(written)


def _own(text: str, name: str) -> str:
    """The samples share their evaluator, and name themselves; a new problem does neither."""
    text = text.replace("source: ../", "source: ")
    return _SAMPLE.sub(lambda match: f"{match[1]}{name}", text)
