"""Finds the CUDA toolkit of this machine: headers, CUPTI, version. Blocking, starts nothing."""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r"^#define CUDA_VERSION (\d{4,6})$", re.MULTILINE)
_INCLUDE = ("include", "extras/CUPTI/include", "targets/*/include")
_LIBRARIES = ("extras/CUPTI/lib64", "lib64", "lib", "targets/*/lib")
_HEADERS = ("cuda.h", "cupti.h", "nvtx3/nvToolsExt.h")
_CUPTI = "libcupti.so.[0-9]*"
OLDEST = 12
"""The first CUDA whose records have the shape that the library reads."""


class NoToolkit(Exception):  # noqa: N818 - named for what happened
    """This machine has no toolkit that the library can be built with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """Folders of headers, the CUPTI to link with, and CUDA's version as `13.0`."""

    includes: tuple[Path, ...]
    cupti: Path
    cuda: str

    @property
    def major(self) -> str:
        """Return the major version."""
        return self.cuda.partition(".")[0]


def find(nvcc: str) -> Toolkit:
    """Return the toolkit that `nvcc` belongs to. Raises NoToolkit."""
    program = shutil.which(nvcc)
    if program is None:
        raise NoToolkit(f"`{nvcc}` was not found, and with it no CUDA toolkit")
    for root in dict.fromkeys((Path(program).resolve().parent.parent, Path(program).parent.parent)):
        includes = _includes(root)
        if includes:
            return _toolkit(root, includes)
    raise NoToolkit("the CUDA toolkit has no headers of CUPTI and NVTX")


def _includes(root: Path) -> tuple[Path, ...]:
    folders = tuple(_existing(root, _INCLUDE))
    there = (any((folder / header).is_file() for folder in folders) for header in _HEADERS)
    return folders if all(there) else ()


def _toolkit(root: Path, includes: tuple[Path, ...]) -> Toolkit:
    found = (path for folder in _existing(root, _LIBRARIES) for path in folder.glob(_CUPTI))
    cupti = min(
        (path for path in found if path.is_file()), key=lambda one: len(one.name), default=None
    )
    if cupti is None:
        raise NoToolkit("the CUDA toolkit has no libcupti")
    cuda = _version(includes)
    if int(cuda.partition(".")[0]) < OLDEST:
        raise NoToolkit(f"CUDA {cuda} is older than {OLDEST}.0")
    return Toolkit(includes=includes, cupti=cupti, cuda=cuda)


def _version(includes: tuple[Path, ...]) -> str:
    for path in (folder / "cuda.h" for folder in includes):
        match = _VERSION.search(path.read_text(errors="replace")) if path.is_file() else None
        if match:
            return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}"
    raise NoToolkit("cuda.h names no version")


def _existing(root: Path, patterns: Iterable[str]) -> Iterable[Path]:
    for pattern in patterns:
        yield from (folder for folder in sorted(root.glob(pattern)) if folder.is_dir())
