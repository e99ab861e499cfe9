"""Repositories that mean harm, and one that is merely large."""

import os
from pathlib import Path

import pytest
from msgspec import structs

from bot.leaderboards import checkout
from bot.leaderboards.errors import SourceError
from bot.leaderboards.sync import SyncReport
from tests.leaderboards.repository import COMPETITION, TASK, change, make
from tests.leaderboards.syncing import Syncing, commit, git


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return make(tmp_path / "remote")


async def synced(syncing: Syncing, remote: Path) -> SyncReport:
    """Sync what is committed; its working folder is out of reach."""
    commit(remote)
    return await syncing(remote.as_uri())


async def refused(syncing: Syncing, remote: Path) -> str:
    report = await synced(syncing, remote)
    assert report.created == ("eigh",)
    (fault,) = report.errors
    assert fault.name == "qr"
    return fault.error


async def test_paths_out_of_the_checkout(syncing: Syncing, remote: Path) -> None:
    change(remote / "linalg/qr/task.yml", "source: ../eval.py", "source: ../../../../../etc/passwd")
    assert "leads out of the problem repository" in await refused(syncing, remote)
    change(remote / "linalg.yaml", "directory: linalg/qr", "directory: ../../../../etc")
    assert "line 5, `problems[0].directory`" in await refused_again(syncing, remote)


async def refused_again(syncing: Syncing, remote: Path) -> str:
    (fault,) = (await synced(syncing, remote)).errors
    return fault.error


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../etc/passwd", "../../../git"])
async def test_links_out_of_the_checkout(syncing: Syncing, remote: Path, target: str) -> None:
    (remote / "linalg/qr/reference.py").unlink()
    (remote / "linalg/qr/reference.py").symlink_to(target)
    said = await refused(syncing, remote)
    assert "`reference.py` leads out of the problem repository" in said or "is no file" in said


async def test_a_folder_and_a_yaml_that_are_links(syncing: Syncing, remote: Path) -> None:
    (remote / "linalg/qr/task.yml").unlink()
    (remote / "linalg/qr/reference.py").unlink()
    (remote / "linalg/qr/template.py").unlink()
    (remote / "linalg/qr").rmdir()
    (remote / "linalg/qr").symlink_to("/etc")
    (remote / "other.yaml").symlink_to("/etc/hostname")
    report = await synced(syncing, remote)
    assert report.created == ("eigh",)
    assert [fault.name for fault in report.errors] == ["other.yaml", "qr"]
    assert all("leads out" in fault.error for fault in report.errors)


async def test_a_pipe_in_a_local_folder_does_not_block(syncing: Syncing, root: Path) -> None:
    (root / "linalg/qr/reference.py").unlink()
    os.mkfifo(root / "linalg/qr/reference.py")
    (fault,) = (await syncing(root)).errors
    assert "`reference.py` is no file" in fault.error


async def test_names_that_look_like_options(syncing: Syncing, remote: Path) -> None:
    (remote / "--output=x").write_text("# an option\n")
    (remote / "-rf").mkdir()
    (remote / "-rf" / "--checkpoint.py").write_text("# another\n")
    change(remote / "linalg/qr/task.yml", "source: reference.py", "source: ../../--output=x")
    change(remote / "linalg/eigh/task.yml", "reference.py}", "'../../-rf/--checkpoint.py'}")
    report = await synced(syncing, remote)
    assert (report.created, report.errors) == (("qr", "eigh"), ())


async def test_a_yaml_bomb(syncing: Syncing, remote: Path) -> None:
    lines = ["x0: &x0 [z, z, z, z, z, z, z, z, z]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 30)]
    (remote / "linalg/qr/task.yml").write_text(TASK + "\n".join(lines))
    (remote / "linalg/eigh/task.yml").write_text(TASK)
    assert "line 22: aliases are not read" in await refused(syncing, remote)


async def test_a_file_that_is_too_large_is_not_written_and_said_to_be(
    syncing: Syncing, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (remote / "linalg/qr/reference.py").open("wb") as file:
        file.truncate(50_000_000)
    written: list[int] = []
    read = checkout._dig_holes

    def noting(files: Path, entries: tuple[checkout.Entry, ...]) -> None:
        read(files, entries)
        hole = (files / "linalg/qr/reference.py").stat()
        written.append(hole.st_blocks * 512)

    monkeypatch.setattr(checkout, "_dig_holes", noting)
    said = await refused(syncing, remote)
    assert "`reference.py` is larger than 4,000,000 bytes" in said
    assert written == [0]


async def test_a_gigabyte_in_a_local_folder_is_not_read(syncing: Syncing, root: Path) -> None:
    for name in ("linalg/qr/reference.py", "linalg/eigh/task.yml", "other.yaml"):
        with (root / name).open("wb") as file:
            file.truncate(10**9)
    report = await syncing(root)
    assert sorted(fault.name for fault in report.errors) == ["eigh", "other.yaml", "qr"]
    assert all("larger than" in fault.error for fault in report.errors)


async def test_a_repository_over_the_limit_ends_before_the_disk_is_full(
    syncing: Syncing, remote: Path
) -> None:
    (remote / "noise").write_bytes(os.urandom(3_000_000))
    commit(remote)
    structs.force_setattr(syncing.settings, "sync_max_bytes", 1_000_000)
    with pytest.raises(SourceError, match="larger than 1,000,000 bytes"):
        await syncing(remote.as_uri())


async def test_small_packs_that_unfold_to_much(syncing: Syncing, remote: Path) -> None:
    for number in range(5):
        (remote / f"zeros{number}").write_bytes(bytes([number]) * 3_999_999)
    commit(remote)
    structs.force_setattr(syncing.settings, "sync_max_bytes", 10_000_000)
    with pytest.raises(SourceError, match="larger than 10,000,000 bytes"):
        await syncing(remote.as_uri())


async def test_too_many_files(
    syncing: Syncing, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MAX_FILES", 3)
    commit(remote)
    with pytest.raises(SourceError, match="more than 3 files"):
        await syncing(remote.as_uri())


async def test_submodules_hooks_and_filters_are_left_alone(
    syncing: Syncing, remote: Path, tmp_path: Path
) -> None:
    commit(make(tmp_path / "other"))
    commit(remote)
    git(remote, "submodule", "--quiet", "add", (tmp_path / "other").as_uri(), "linalg/sub")
    (remote / ".gitattributes").write_text("*.py filter=evil\n*.yml text eol=lf\n")
    (remote / ".gitconfig").write_text(f'[filter "evil"]\nsmudge = touch {tmp_path}/ran\n')
    (remote / ".lfsconfig").write_text("[lfs]\nurl = ssh://-oProxyCommand=touch/x\n")
    change(remote / "linalg/qr/task.yml", "source: ../eval.py", "source: ../sub/linalg/eval.py")
    said = await refused(syncing, remote)
    assert "cannot be read: no such file" in said or "is no file" in said
    assert not (tmp_path / "ran").exists()


async def test_a_name_of_another_encoding_stops_nothing(syncing: Syncing, remote: Path) -> None:
    (remote / os.fsdecode(b"\xff\xfe.py")).write_text("x")
    assert (await synced(syncing, remote)).created == ("qr", "eigh")


async def test_names_and_words_that_would_break_a_message(syncing: Syncing, remote: Path) -> None:
    change(remote / "linalg.yaml", "name: qr\n", "name: '@everyone `x` <@1>'\n")
    change(remote / "linalg/qr/task.yml", "seed: 7", "'@here\\n``` ': 1")
    report = await synced(syncing, remote)
    assert report.created == ("@everyone `x` <@1>", "eigh")
    assert "\n" not in "".join(report.warnings)


def two_hundred(root: Path) -> Path:
    """Write a repository of 200 problems in four competitions."""
    for number in range(200):
        folder = root / f"set{number % 4}" / f"p{number:03}"
        folder.mkdir(parents=True)
        (folder / "task.yml").write_text(TASK.replace("../eval.py", "../../eval.py"))
        (folder / "reference.py").write_text(f"# {number}\n" * 100)
        (folder / "template.py").write_text("def custom_kernel(data): ...\n")
    (root / "eval.py").write_text("print()\n" * 300)
    head = COMPETITION.split("  - directory")[0]
    for number in range(4):
        entries = [
            f"  - {{directory: set{number}/p{n:03}, name: p{n:03}, gpus: [H200]}}\n"
            for n in range(number, 200, 4)
        ]
        text = head.replace("name: linalg", f"name: set{number}") + "".join(entries)
        (root / f"set{number}.yaml").write_text(text)
    return root


async def test_a_repository_of_200_problems(syncing: Syncing, tmp_path: Path) -> None:
    root = two_hundred(tmp_path / "many")
    commit(root)
    report = await syncing(root.as_uri())
    assert (len(report.created), report.errors) == (200, ())
    assert len((await syncing(root.as_uri())).unchanged) == 200
    change(root / "set1" / "p001" / "task.yml", "Factorise", "Factorize")
    commit(root)
    again = await syncing(root.as_uri())
    assert (again.updated, len(again.unchanged)) == (("p001",), 199)
    assert {board.commit for board in syncing.catalogue.all()} == {again.commit}
