"""What programs may see of this machine: found from its layout and the configured programs."""

import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.isolation.sandbox import Bind, Machine

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = ("alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime")
ETC_MORE = ("nsswitch.conf", "nvidia", "passwd")
# What the CUDA driver reads. Not all of /sys: cgroups and security modules stay out.
SYS = ("/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module")
NVIDIA = Path("/opt/nvidia")
SETTINGS_FILE = "ncubot.toml"
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NUMBERED = re.compile(r"^nvidia(\d+)$")


def system_paths() -> tuple[Path, ...]:
    """Return the folders of the system that exist here and are no links."""
    etc = (f"/etc/{name}" for name in (*ETC, *ETC_MORE))
    paths = (Path(text) for text in (*SYSTEM, *etc, *SYS, str(NVIDIA)))
    return tuple(path for path in paths if path.exists() and not _is_link(path))


def system_links() -> tuple[tuple[Path, str], ...]:
    """Return the links among them, such as `/lib` to `usr/lib`."""
    links = (Path(text) for text in SYSTEM)
    return tuple((path, str(path.readlink())) for path in links if path.is_symlink())


def _is_link(path: Path) -> bool:
    return path.is_symlink() and str(path) in SYSTEM


def kernel_files(proc: Path = Path("/proc")) -> tuple[Bind, ...]:
    """Return what makes the kernel's own files in /proc read-only, and empty the private ones.

    bubblewrap covers fewer, and /proc/sys only where its folder, not the files in it, is writable.
    """
    found = []
    for path in sorted(proc.iterdir()):
        if path.is_symlink() or path.name.isdecimal():
            continue
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            found.append(Bind(path, path))
        elif not mode & stat.S_IROTH:
            found.append(Bind(Path("/dev/null"), path))
        elif mode & _WRITABLE:
            found.append(Bind(path, path))
    return tuple(found)


def program_paths(program: str) -> Iterator[Path]:
    """Yield the folders that a program needs beside it: where it stands, and a CUDA toolkit."""
    found = shutil.which(program)
    if found is None:
        return
    for path in (Path(found).absolute(), Path(found).resolve()):
        yield path.parent
        toolkit = path.parent.parent
        if (toolkit / "nvvm").is_dir():
            yield toolkit


def outermost(paths: Iterable[Path], besides: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths that exist and lie in no other of them, nor in one of `besides`."""
    seen: list[Path] = []
    for path in sorted({path for path in paths if path.exists()}, key=lambda one: len(one.parts)):
        if not any(path.is_relative_to(known) for known in (*besides, *seen)):
            seen.append(path)
    return tuple(seen)


def machine(
    bwrap: str,
    wanted: Iterable[Path],
    *,
    hide: Iterable[Path],
    capabilities: tuple[str, ...] = (),
    nested_namespaces: bool = False,
    shm_bytes: int,
) -> Machine:
    """Put together what is seen: the system, and `wanted` with what its links lead to.

    `hide` is covered wherever it would be seen; a root folder in `wanted` is never shown whole.
    Blocking.
    """
    system = system_paths()
    linked = tuple(path for path, _ in system_links())
    given = [each for path in wanted for each in (path.absolute(), path.resolve())]
    more = outermost((path for path in given if path != Path("/")), (*system, *linked))
    shown = (*system, *more)
    covered = tuple(path for path in hide if any(path.is_relative_to(one) for one in shown))
    return Machine(
        bwrap=bwrap,
        read_only=shown,
        links=system_links(),
        hidden=tuple(Bind(Path("/dev/null"), path) for path in covered if path.is_file()),
        hidden_folders=tuple(path for path in covered if path.is_dir()),
        kernel=kernel_files(),
        capabilities=capabilities,
        nested_namespaces=nested_namespaces,
        shm_bytes=shm_bytes,
    )


def gpu_devices(
    gpu: str = "", dev: Path = Path("/dev"), driver: Path = Path("/proc/driver/nvidia/gpus")
) -> tuple[Path, ...]:
    """Return the device files of NVIDIA's driver, of the GPUs only that with the UUID `gpu`.

    All GPUs where it is not given or not known. Blocking.
    """
    minor = _minors(driver).get(gpu)
    return tuple(path for path in sorted(dev.glob("nvidia*")) if _wanted(path.name, minor))


def _wanted(name: str, minor: str | None) -> bool:
    numbered = _NUMBERED.match(name)
    return numbered is None or minor is None or numbered[1] == minor


def _minors(driver: Path) -> dict[str, str]:
    found = {}
    for path in sorted(driver.glob("*/information")):
        text = path.read_text(encoding="utf-8", errors="replace")
        fields = dict(re.findall(r"^(GPU UUID|Device Minor):\s*(\S+)", text, re.MULTILINE))
        if len(fields) == 2:
            found[fields["GPU UUID"]] = fields["Device Minor"]
    return found
