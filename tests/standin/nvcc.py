"""Stands in for nvcc: makes an evaluator that passes, or the error that a source asks for."""

import sys
from pathlib import Path

ERROR = """submission.cu(3): error: expected a ";"
  }
  ^

submission.cu(4): error: identifier "y" is undefined

2 errors detected in the compilation of "submission.cu".
"""
BINARY = """#!{python}
import os
pipe = int(os.environ["POPCORN_FD"])
os.write(pipe, b"benchmark-count: 1\\ncheck: pass\\n")
"""


def main(argv: list[str], data: str) -> int:
    """Compile the sources named in `argv`."""
    sources = [Path(word) for word in argv if word.endswith(".cu")]
    if any("standin-compile-error" in source.read_text(encoding="utf-8") for source in sources):
        sys.stderr.write(ERROR)
        return 2
    binary = Path(argv[argv.index("-o") + 1])
    binary.write_text(BINARY.format(python=sys.executable), encoding="utf-8")
    binary.chmod(0o755)
    return 0
