"""Building the library, and what is said where that is not possible."""

import asyncio
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from runner.census import build
from runner.census.environment import INSIDE, binds, environment
from runner.census.model import Library, Missing
from runner.settings import EngineName
from tests.runner.census.conftest import settings_for


async def test_it_is_built_once(toolkit: Path, tmp_path: Path) -> None:
    settings = settings_for(toolkit, tmp_path)
    first = await build.library(settings)
    assert isinstance(first, Library), first
    assert first.path.is_relative_to(tmp_path / "census")
    assert (first.cupti, first.cuda) == (toolkit / "lib64", "13.0")
    made = first.path.stat().st_mtime_ns
    assert await build.library(settings) == first
    assert first.path.stat().st_mtime_ns == made
    assert [path.name for path in first.path.parent.iterdir()] == [first.path.name]


async def test_it_is_built_by_several_at_once(toolkit: Path, tmp_path: Path) -> None:
    settings = settings_for(toolkit, tmp_path)
    made = await asyncio.gather(*(build.library(settings) for _ in range(3)))
    assert len(set(made)) == 1
    assert isinstance(made[0], Library)
    assert [path.name for path in made[0].path.parent.iterdir()] == [build.NAME]


async def test_another_cupti_is_another_library(toolkit: Path, tmp_path: Path) -> None:
    other = tmp_path / "toolkit"
    shutil.copytree(toolkit, other)
    with (other / "lib64" / "libcupti.so.13").open("ab") as file:
        file.write(b"\0")
    first = await build.library(settings_for(toolkit, tmp_path / "data"))
    second = await build.library(settings_for(other, tmp_path / "data"))
    assert isinstance(first, Library)
    assert isinstance(second, Library)
    assert first.path != second.path


async def reason(toolkit: Path, data: Path) -> str:
    made = await build.library(settings_for(toolkit, data))
    assert isinstance(made, Missing), made
    return made.reason


async def test_reasons(toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "toolkit"
    data = tmp_path / "data"
    assert await reason(other, data) == (
        f"`{other}/bin/nvcc` was not found, and with it no CUDA toolkit"
    )
    shutil.copytree(toolkit, other)
    (other / "include" / "cupti.h").write_text("#error too new\n", encoding="utf-8")
    assert "does not compile with CUDA 13.0: " in await reason(other, data)
    assert [path for path in data.rglob("*") if path.is_file()] == []
    (other / "include" / "cuda.h").write_text("#define CUDA_VERSION 11080\n", encoding="utf-8")
    assert await reason(other, data) == "CUDA 11.8 is older than 12.0"
    (other / "lib64" / "libcupti.so.13").unlink()
    assert await reason(other, data) == "the CUDA toolkit has no libcupti"
    (other / "include" / "cupti.h").unlink()
    assert await reason(other, data) == "the CUDA toolkit has no headers of CUPTI and NVTX"
    monkeypatch.setattr(build, "COMPILERS", ("no-such-compiler",))
    assert await reason(toolkit, data) == "no C compiler (gcc) was found"


async def test_a_folder_that_cannot_be_written(toolkit: Path, tmp_path: Path) -> None:
    (tmp_path / "census").write_text("", encoding="utf-8")
    assert await reason(toolkit, tmp_path) == f"{tmp_path}: Not a directory"


async def test_pytorch_for_another_cuda(toolkit: Path, tmp_path: Path) -> None:
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    version = "cuda: Optional[str] = '{}'\ngit_version = 'x'\n"
    python = tmp_path / "python"
    script = f'#!/bin/sh\nPYTHONPATH={torch.parent} exec "{shutil.which("python3")}" "$@"\n'
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    settings = replace(settings_for(toolkit, tmp_path / "data"), python=str(python))
    (torch / "version.py").write_text(version.format("12.8"), encoding="utf-8")
    said = await build.library(settings)
    assert said == Missing("PyTorch is made for CUDA 12.8, the toolkit is CUDA 13.0")
    (torch / "version.py").write_text(version.format("13.1"), encoding="utf-8")
    assert isinstance(await build.library(settings), Library)


async def test_a_replay_has_none(toolkit: Path, tmp_path: Path) -> None:
    settings = replace(settings_for(toolkit, tmp_path), engine=EngineName.RECORDED)
    assert isinstance(await build.library(settings), Missing)


def test_what_a_program_gets(library: Library) -> None:
    folder = Path("/job/out")
    assert environment(library, folder, sandboxed=True) == {
        "NVTX_INJECTION64_PATH": str(INSIDE),
        "NCUBOT_CENSUS_FOLDER": "/job/out",
    }
    assert environment(library, folder, sandboxed=False)["NVTX_INJECTION64_PATH"] == str(
        library.path
    )
    assert [(bind.source, bind.target, bind.writable) for bind in binds(library)] == [
        (library.path, INSIDE, False),
        (library.cupti, library.cupti, False),
    ]
