"""Makes censuses and tables for tests."""

from runner.census.model import Census, CensusKernel, Launcher
from runner.census.table import FORMAT

HEAD = FORMAT + b"\nprocess 7\nrange 5000 1\nothers 0 0\nlost 0 0\n"
NAMES = b"name 0 _Z1kv k()\n"
ROW = b"kernel 0 0 1 2 3 32 1 1 4 400 50 200 50000 10 1 4 0\n"


def table(*lines: bytes, head: bytes = HEAD) -> bytes:
    """Return a whole table of the lines."""
    return head + b"".join(lines) + b"end\n"


def kernel(
    name: str,
    total_ms: float,
    launches: int = 1_000,
    *,
    launcher: Launcher = Launcher.RANGE,
    block: int = 128,
    grid: int = 1,
    demangled: str = "",
    processes: int = 1,
    fewest: int = 0,
    first_ns: int = 0,
) -> CensusKernel:
    """Return a kernel whose launches take equally long."""
    total = int(total_ms * 1e6)
    return CensusKernel(
        name=name,
        demangled=demangled or name,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        launcher=launcher,
        launches=launches,
        total_ns=total,
        min_ns=total // launches,
        max_ns=total // launches,
        sd_ns=0.0,
        first_ns=first_ns,
        first=1,
        last=launches,
        fewest=fewest or launches,
        processes=processes,
    )


def census(*kernels: CensusKernel, idle_ms: float = 1) -> Census:
    """Return a complete census whose range was open for the kernels' time and `idle_ms`."""
    range_ns = sum(one.total_ns for one in kernels) + int(idle_ms * 1e6)
    return Census(kernels=kernels, range_ns=range_ns, ranges=1, processes=1, complete=True)
