"""`python -m benchmarks`: runs every benchmark and prints one table."""

import platform

from benchmarks import delivery, report_start
from benchmarks.figures import markdown


def main() -> None:
    """Measure everything, one after the other."""
    figures = [*report_start.measure(), *delivery.measure()]
    print(f"{platform.machine()}, Python {platform.python_version()}; seconds\n")
    print(markdown(figures))


if __name__ == "__main__":
    main()
