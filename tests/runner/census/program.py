"""A program that is counted, over the stand-in of CUPTI. Usage: program.py LIBRARY CASE [COUNT]

It runs in a process of its own, since a library is injected once.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ALPHA, BETA = b"_Z5alphaPf", b"beta"
RANGE = "custom_kernel"


class Program:
    """Ranges and launches of this process."""

    def __init__(self, library: str) -> None:
        self._census = ctypes.CDLL(library)
        # CUPTI came with it: its names are found through the same handle.
        self._kept: list[object] = []
        # Each copy of NVTX in a process calls it.
        assert all(self._census.InitializeInjectionNvtx2(self._census.stub_tables) for _ in "ab")

    def launch(
        self, name: bytes = ALPHA, count: int = 1, ns: int = 1_000, grid: int = 1, graph: int = 0
    ) -> None:
        """Launch kernels from this thread."""
        text = ctypes.create_string_buffer(name)
        self._kept.append(text)
        for _ in range(count):
            self._census.stub_launch(text, grid, 32, ctypes.c_uint64(ns), graph)

    @contextmanager
    def range(self, name: str = RANGE, kind: str = "a") -> Iterator[None]:
        """Open a range by one of the ways to do so."""
        code = ctypes.c_char(kind.encode())
        text = ctypes.create_string_buffer(name.encode())
        self._kept.append(text)
        self._census.stub_push(code, text, ctypes.c_wchar_p(name))
        yield
        self._census.stub_pop(code)


def plain(it: Program, _: int) -> None:
    """Launches before, in and after the range."""
    it.launch(count=9)
    with it.range():
        it.launch(count=3, ns=1_000)
        it.launch(count=1, ns=5_000)
        it.launch(BETA, count=2, ns=50_000, grid=7)
    it.launch(count=9)


def nested(it: Program, _: int) -> None:
    """Ranges in ranges, of this name and of others."""
    with it.range("outer"):
        it.launch(BETA)
        with it.range():
            with it.range("inner"), it.range(), it.range("x", "d"):
                it.launch()
            it.launch(count=2)
        it.launch(BETA)


def twice(it: Program, _: int) -> None:
    """A range that is opened twice."""
    for count in (3, 4):
        with it.range():
            it.launch(count=count)
        it.launch(BETA)


def variants(it: Program, _: int) -> None:
    """Every way to push, one launch each; then ranges that do not count."""
    for kind in "aweurn":
        with it.range(kind=kind):
            it.launch()
    for name, kind in ((RANGE, "d"), ("custom_kernel2", "a"), ("custom_kerne", "w"), ("", "e")):
        with it.range(name, kind):
            it.launch(BETA)


def thread(it: Program, _: int) -> None:
    """Another thread launches, and opens a range of its own later."""

    def other() -> None:
        it.launch(BETA, count=5)
        with it.range():
            it.launch(BETA, count=2)
        it.launch(BETA, count=1)

    with it.range():
        it.launch(count=2)
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
        it.launch(count=2)


def names(it: Program, count: int) -> None:
    """Many names."""
    with it.range():
        for number in range(count):
            it.launch(b"k%d" % number, count=2, ns=10)
        it.launch(b"y" * 20_000, ns=7)


def shapes(it: Program, count: int) -> None:
    """Many shapes of one name."""
    with it.range():
        for number in range(1, count + 1):
            it.launch(grid=number, ns=10)


def launches(it: Program, count: int) -> None:
    """Many launches."""
    with it.range():
        it.launch(count=count, ns=10)


def unfinished(it: Program, _: int) -> None:
    """A kernel that still runs when the range closes; and nodes of a graph."""
    with it.range():
        it.launch(count=1, ns=0)
        it.launch(count=4, graph=3)


def odd(it: Program, _: int) -> None:
    """Names that could be taken for something else."""
    with it.range():
        for name in (b"odd$name", b"a b\nend", b"50%", b"\xff\xfe", b"_Z", b"_ZN1aIiE1bEv"):
            it.launch(name)


def forked(it: Program, _: int) -> None:
    """Two children after a range of their parent's."""
    with it.range():
        it.launch(count=3)
    for count in (1, 2):
        if not os.fork():
            with it.range():
                it.launch(count=count)
            os._exit(0)
        os.wait()


def killed(it: Program, _: int) -> None:
    """A process that is killed after its range, and never comes to its exit."""
    with it.range():
        it.launch(count=3)
    os.kill(os.getpid(), 9)


CASES: dict[str, Callable[[Program, int], None]] = {
    each.__name__: each
    for each in (
        *(plain, nested, twice, variants, thread, names, shapes, launches, unfinished, odd),
        *(forked, killed),
    )
}

if __name__ == "__main__":
    CASES[sys.argv[2]](Program(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
