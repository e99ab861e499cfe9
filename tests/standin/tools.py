"""Puts the stand-in programs into a folder as executables."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The environment of what the runner starts is an allow-list, so paths stand in the script itself.
SCRIPT = """#!{python} -I
import sys
sys.path.insert(0, {root!r})
from tests.standin.{module} import main
sys.exit(main(sys.argv[1:], {data!r}))
"""


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of the installed stand-ins, and what a sandbox must show for them to run."""

    ncu: Path
    nvcc: Path
    nsys: Path
    read_only: tuple[Path, ...]

    @property
    def variable(self) -> str:
        """Return `read_only` as NCUBOT_RUNNER_READ_ONLY takes it."""
        return json.dumps([str(path) for path in self.read_only])


def install(folder: Path, recordings: Path) -> Tools:
    """Write executables `ncu`, `nvcc` and `nsys` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    return Tools(
        _script(folder / "ncu", "ncu", str(recordings)),
        _script(folder / "nvcc", "nvcc", ""),
        _script(folder / "nsys", "nsys", ""),
        (ROOT / "tests", folder, recordings),
    )


def _script(path: Path, module: str, data: str) -> Path:
    text = SCRIPT.format(python=sys.executable, root=str(ROOT), module=module, data=data)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
