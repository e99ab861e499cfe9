"""`python -m benchmarks`: runs every benchmark and prints one table."""

import platform

from benchmarks import (
    autocomplete,
    delivery,
    overhead,
    parse_rows,
    reply_speed,
    report_start,
    sync_time,
)
from benchmarks.figures import markdown


def main() -> None:
    """Measure everything, one after the other."""
    figures = [
        *report_start.measure(),
        *parse_rows.measure(),
        *delivery.measure(),
        *reply_speed.measure(),
        *overhead.measure(),
        *sync_time.measure(),
        *autocomplete.measure(),
    ]
    print(f"{platform.machine()}, Python {platform.python_version()}; seconds\n")
    print(markdown(figures))
    if not overhead.has_gpu():
        print(f"\n{overhead.NO_GPU}")


if __name__ == "__main__":
    main()
