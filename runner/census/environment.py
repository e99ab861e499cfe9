"""How a program gets the census library: its environment and what it sees of this machine."""

from pathlib import Path

from runner.census.model import Library
from runner.isolation.sandbox import Bind

FOLDER_VARIABLE = "NCUBOT_CENSUS_FOLDER"
INJECTION_VARIABLE = "NVTX_INJECTION64_PATH"
INSIDE = Path("/job/census/libncubot-census.so")
"""The library as a program in a sandbox sees it: the runner's data folder is hidden there."""


def environment(library: Library, folder: Path, *, sandboxed: bool) -> dict[str, str]:
    """Return what to add to an evaluator's environment.

    `folder` takes one file a process; as the program sees it, there, empty and writable.
    """
    path = INSIDE if sandboxed else library.path
    return {INJECTION_VARIABLE: str(path), FOLDER_VARIABLE: str(folder)}


def binds(library: Library) -> tuple[Bind, ...]:
    """Return what a sandboxed program must see beside its job: the library, and CUPTI."""
    return (Bind(library.path, INSIDE), Bind(library.cupti, library.cupti))
