"""Puts programs in ncu's place that take next to no CPU time, so that many run on few cores."""

import shutil
from pathlib import Path

from runner.settings import RECORDINGS
from tests.standin.tools import Tools

RECORDING = RECORDINGS / "qr_v2-starter-0"
NCU = """#!/bin/sh
case "$*" in
  *--export=*)
    for word in "$@"; do case "$word" in --export=*) report="${{word#--export=}}" ;; esac; done
    sleep {sleep_s}
    echo x > "$report"
    echo 'check: pass' >/proc/self/fd/$POPCORN_FD
    ;;
  *raw*) cat {folder}/ncu-raw.csv ;;
  *--csv*) cat {folder}/ncu-details.csv ;;
  *) cat {folder}/ncu-details.txt ;;
esac
"""
NOTHING = "#!/bin/sh\n"
EXPORTS = ("ncu-details.csv", "ncu-details.txt", "ncu-raw.csv")


def python_of(tools: Tools) -> Path:
    """Return the interpreter that was installed with them, which imports nothing."""
    return tools.ncu.with_name("python")


def install(folder: Path, sleep_s: float, recording: Path = RECORDING) -> Tools:
    """Write an `ncu` that sleeps, then has a recording's exports, and a `python` that does nothing.

    All that they need is in `folder`, which sandboxes show since the programs are there.
    """
    folder.mkdir(parents=True)
    for name in EXPORTS:
        shutil.copyfile(recording / name, folder / name)
    ncu = _script(folder / "ncu", NCU.format(folder=folder, sleep_s=sleep_s))
    others = [_script(folder / name, NOTHING) for name in ("nvcc", "nsys", "python")]
    return Tools(ncu, others[0], others[1], ())


def _script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
