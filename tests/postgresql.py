"""A PostgreSQL server of the tests' own, on a socket in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

# Nothing here outlives the tests, so nothing waits for a disk.
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=16MB"
LIMIT_S = 50
USER = "ncubot"


@dataclass(frozen=True)
class Server:
    """A running server: where its programs and its socket are."""

    programs: Path
    folder: Path

    def url(self, name: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def create(self, template: str = "template0") -> str:
        """Make a database like `template` and return its name."""
        name = f"t{uuid.uuid4().hex}"
        self._call("createdb", "-T", template, name)
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self._call("dropdb", "--force", name)

    def _call(self, program: str, *arguments: str) -> None:
        call(self.programs / program, "-h", self.folder, "-U", USER, *arguments)


def binaries() -> Path:
    """Return the folder of the newest installed server, or skip."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if not found:
        pytest.skip("the Debian package postgresql is absent")
    return found[-1].parent


def _version(initdb: Path) -> int:
    name = initdb.parent.parent.name
    return int(name) if name.isdigit() else 0


@contextmanager
def running() -> Iterator[Server]:
    """Run a server as long as the context lasts."""
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="ncubot-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    data, log = folder / "data", folder / "log"
    try:
        call(programs / "initdb", "-D", data, "-A", "trust", "-U", USER, "-N", "--no-locale")
        options = f"{FAST} -k {folder} -h ''"
        call(programs / "pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start")
        try:
            yield Server(programs, folder)
        finally:
            call(programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)


def call(*command: str | Path) -> None:
    """Run a program of PostgreSQL, which refuses to be root."""
    subprocess.run(
        command,
        check=True,
        cwd="/",
        user="postgres" if os.geteuid() == 0 else None,
        stdout=subprocess.DEVNULL,
        timeout=LIMIT_S,
    )
