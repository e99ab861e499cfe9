"""`python -m benchmarks [NAME...]`: runs benchmarks and prints one table; all where none is named.

`--markdown FILE` and `--json FILE` write the figures too. What needs a GPU is left out without one,
and said; `benchmarks.census` and `benchmarks.captures` print tables of their own there.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.figures import Figure, markdown
from benchmarks.overhead import has_gpu

HERE = (
    "report_start",
    "parse_rows",
    "delivery",
    "reply_speed",
    "sync_time",
    "autocomplete",
    "growth",
    "streams",
    "many_users",
    "whole_chain",
    "ray_slots",
)
ON_A_GPU = ("overhead",)


def machine() -> str:
    """Describe where the figures come from."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def measured(names: Sequence[str]) -> list[Figure]:
    """Measure one after the other; each tells on stderr that it begins."""
    figures: list[Figure] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        figures += import_module(f"benchmarks.{name}").measure()
    return figures


def left_out(names: Sequence[str]) -> str:
    """Say what was not measured for want of a GPU."""
    missing = [name for name in ON_A_GPU if name not in names]
    said = f"Not measured here, for want of a GPU with ncu: {', '.join(missing)}."
    return said if missing else ""


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", choices=[[], *HERE, *ON_A_GPU], metavar="NAME")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    names = asked.names or (*HERE, *(ON_A_GPU if has_gpu() else ()))
    figures = measured(names)
    page = "\n\n".join(filter(None, (f"{machine()}.", markdown(figures), left_out(names)))) + "\n"
    print(page)
    if asked.markdown is not None:
        asked.markdown.write_text(page, encoding="utf-8")
    if asked.json is not None:
        kept = {"machine": machine(), "figures": [asdict(figure) for figure in figures]}
        asked.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
