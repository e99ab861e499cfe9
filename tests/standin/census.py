"""A submission that leaves the file of a census, as the library does where it is loaded."""

from dataclasses import dataclass

from runner.census.environment import FOLDER_VARIABLE
from tests.standin.problem import GOOD


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of the range: so many launches of `each_ns`."""

    name: str
    launches: int
    each_ns: int
    demangled: str = ""
    other_thread: bool = False


# The figures of the recorded call: 831,561 launches, four names hold 99 % of the time.
EIGH = (
    Kernel("syevbj_batch_32x16", 201_283, 18_300),
    Kernel("column_rotate_batch", 209_426, 8_400),
    Kernel("row_rotate_batch_32x16_phase1", 209_426, 8_000),
    Kernel("row_rotate_batch_32x32_phase2", 209_426, 5_600),
    Kernel("fill", 2_000, 42_000),
)


def table(kernels: tuple[Kernel, ...], range_ns: int = 9_400_000_000) -> str:
    """Return what the library writes of a process."""
    lines = ["ncubot-census 1", "process 7", f"range {range_ns} 1", "others 0 0", "lost 0 0"]
    for number, one in enumerate(kernels):
        lines.append(f"name {number} {one.name} {one.demangled or one.name}")
        count, each = one.launches, one.each_ns
        times = f"{count} {count * each} {each} {each} {float(count * each * each)}"
        shape = f"{int(one.other_thread)} 16 1 1 32 1 1"
        lines.append(f"kernel {number} {shape} {times} {number} 1 {count} 0")
    return "\n".join([*lines, "end", ""])


def counting(kernels: tuple[Kernel, ...], *wishes: str, source: str = GOOD) -> str:
    """Return a submission with `wishes` to the stand-in ncu, counted as `kernels`."""
    heads = "".join(f"# {wish}\n" for wish in wishes)
    return f"""{heads}import os, pathlib
if "{FOLDER_VARIABLE}" in os.environ and __name__ != "__main__":
    folder = pathlib.Path(os.environ["{FOLDER_VARIABLE}"])
    (folder / "7.census").write_text({table(kernels)!r})
{source}"""
