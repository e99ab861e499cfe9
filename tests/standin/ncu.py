"""Stands in for ncu, faithful to the recordings.

A line `standin: NAME` in a file of the working folder, the submission, chooses a recording: its
streams are printed unbuffered, its log goes to POPCORN_FD, the report is written where there was
one, and its exit status is ours. Without such a line the program is run for real: each line of
`launches` in TMPDIR is a kernel that it launched in the range, and there is a report of as many as
were asked for; without one it ends as where nothing was in the range.

`standin-hot: NAME` chooses the recording of runs whose launches are chosen by `--kernel-id`.
`standin-lag: SECONDS` slows the replay down;
`standin-first: NAME` chooses another recording for the first run of a job; `standin-grow: BYTES`
lets the report of a run that hangs grow to that size. A name `made:NAME` is one of made.py's.

No recording is of range replay. Its one result is made here of the recorded first launch: named
`range`, without the columns of block and grid and without what is known of a launch alone.
"""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from tests.standin.made import EVERY

BANNER = """NVIDIA (R) Nsight Compute Command Line Profiler
Copyright (c) 2018-2025 NVIDIA Corporation
Version 2025.3.1.0 (build 36398880) (public-release)
"""
PLAIN = "==PROF== Connected to process {0} (python3)\n"
NONE = "==WARNING== No kernels were profiled.\n"
APPLICATION = "==ERROR== The application returned an error code ({0}).\n"
HANG = "partial-hang-terminated"
REAL = "ok-triton-1024"
RANGE = "range of "
OF_A_LAUNCH = re.compile(r"(?:Block|Grid) Size|launch__")
# Recordings whose exports were not kept borrow those of a run with the same kernels.
BORROWED = {
    "ok-kernel-id-third": "ok-hot-four-kernels",
    "wrong-answer-with-report": "ok-geqrf-four-kernels",
}


def main(argv: list[str], recordings: str) -> int:
    """Do what ncu does with `argv`."""
    options, program = _parser().parse_known_args(argv)
    if options.version:
        return _say(BANNER)
    if options.report is not None:
        return _export(options, Path(recordings))
    if options.replay_mode == "range" and options.import_source:
        _say("==ERROR== Option import-source is not supported during range replay.\n")
        return 1
    hot = _wish("standin-hot") if options.kernel_id else None
    name = hot or _first() or _wish("standin")
    if name is None:
        return _run(program, options)
    return _replay(_folder(name, Path(recordings)), options)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(allow_abbrev=False)
    for option in ("--export", "--page", "--kernel-name", "--kernel-name-base", "--launch-count"):
        parser.add_argument(option)
    for option in ("--set", "--import-source", "--nvtx-include", "--target-processes"):
        parser.add_argument(option)
    for option in ("--kernel-id", "--kill", "--profile-from-start"):
        parser.add_argument(option)
    for option in ("--cache-control", "--clock-control", "--replay-mode"):
        parser.add_argument(option)
    parser.add_argument("--import", dest="report")
    for flag in ("--nvtx", "--force-overwrite", "--csv", "--version"):
        parser.add_argument(flag, action="store_true")
    return parser


def _wish(word: str) -> str | None:
    for path in sorted(Path.cwd().glob("submission.*")):
        found = re.search(rf"{word}: (\S+)", path.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
    return None


def _folder(name: str, recordings: Path) -> Path:
    if not name.startswith("made:"):
        return recordings / name
    run = next(run for run in EVERY if run.name == name.removeprefix("made:"))
    return run.write(Path(tempfile.mkdtemp()))


def _first() -> str | None:
    name = _wish("standin-first")
    mark = Path(os.environ["HOME"]) / "standin-first"
    if name is None or mark.exists():
        return None
    mark.touch()
    return name


def _say(text: str) -> int:
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _replay(folder: Path, options: Namespace) -> int:
    as_range = options.replay_mode == "range"
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: terminated.append(number))
    lag = float(_wish("standin-lag") or 0.0)
    ends = _before(folder.name, terminated, Path(options.export))
    printed = _text(folder / "stdout.txt")
    for line in (_of_range(printed) if as_range else printed).splitlines(keepends=True):
        if line.startswith("==PROF== Trying to shutdown"):
            ends()
        _print_slowly(line, lag)
    sys.stderr.write(_text(folder / "stderr.txt"))
    _log(_text(folder / "popcorn_fd.txt"))
    if "==PROF== Report:" in _text(folder / "stdout.txt"):
        report = f"{RANGE}{folder.name}" if as_range else folder.name
        Path(options.export).write_text(report, encoding="utf-8")
    return int(_text(folder / "exit_code"))


def _before(name: str, terminated: list[int], report: Path) -> Callable[[], None]:
    grown = int(_wish("standin-grow") or 0)

    def wait() -> None:
        if name == HANG and grown:
            report.write_bytes(b"x" * grown)
        while name == HANG and not terminated:
            time.sleep(0.01)

    return wait


def _print_slowly(line: str, lag: float) -> None:
    for part in re.split(r"(?<=%)|(?<=\.\.\.\.)", line):
        _say(part)
        time.sleep(lag)


def _log(text: str) -> None:
    with os.fdopen(os.dup(int(os.environ["POPCORN_FD"])), "w", encoding="utf-8") as pipe:
        pipe.write(text)


def _export(options: Namespace, recordings: Path) -> int:
    name, _, count = Path(options.report).read_text(encoding="utf-8").partition("*")
    as_range, name = name.startswith(RANGE), name.removeprefix(RANGE)
    page = "raw" if options.page == "raw" else "details"
    source = recordings / BORROWED.get(name, name) / f"ncu-{page}.{'csv' if options.csv else 'txt'}"
    if not source.is_file():
        return 1
    if as_range and options.csv:
        return _say(range_table(_text(source)))
    lines = _text(source).splitlines(keepends=True)
    if not count or not options.csv:
        return _say("".join(lines))
    first = [line for line in lines if not line.startswith('"0",')]
    rows = [line for line in lines if line.startswith('"0",')]
    copies = (row.replace("0", str(n), 1) for n in range(int(count)) for row in rows)
    return _say("".join((*first, *copies)))


def _of_range(printed: str) -> str:
    text = re.sub(r'(==PROF== Profiling ")[^"]*(" - 0)[^:]*', r"\1range\2", printed, count=1)
    text = re.sub(r'==PROF== Profiling ".*" - [1-9]\d* .*\n', "", text)
    return text.replace("No kernels were", "No ranges were")


def range_table(text: str) -> str:
    header, *rows = csv.reader(io.StringIO(text))
    name, section = header.index("Kernel Name"), header.index("CC") + 1
    kept = [at for at, title in enumerate(header) if not OF_A_LAUNCH.match(title)]
    table = io.StringIO()
    writer = csv.writer(table, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([header[at] for at in kept])
    for row in rows:
        if row[0] in {"", "0"} and row[section] != "Launch Statistics":
            row[name] = row[name] and "range"
            writer.writerow([row[at] for at in kept if at < len(row)])
    return table.getvalue()


def _run(program: list[str], options: Namespace) -> int:
    launches = Path(os.environ["TMPDIR"]) / "launches"
    launches.unlink(missing_ok=True)
    child = subprocess.Popen(program, close_fds=False)
    signal.signal(signal.SIGTERM, lambda *_: _shut_down(child))
    _say(PLAIN.format(child.pid))
    code = child.wait()
    captured = _text(launches).splitlines()[: int(options.launch_count or 1_000_000)]
    for number, name in enumerate(captured):
        place = f"({number + 1}/{options.launch_count})"
        _say(f'==PROF== Profiling "{name}" - {number} {place}: 0%....50%....100% - 37 passes\n')
    if code:
        _say(APPLICATION.format(-code if code < 0 else code))
    if not captured:
        _say(NONE)
        return abs(code)
    Path(options.export).write_text(f"{REAL}*{len(captured)}", encoding="utf-8")
    _say(f"==PROF== Report: {options.export}\n")
    return abs(code)


def _shut_down(child: "subprocess.Popen[bytes]") -> None:
    _say("==PROF== Trying to shutdown target application\n")
    child.terminate()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
