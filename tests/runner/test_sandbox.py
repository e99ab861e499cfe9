"""The sandbox's command line, and what it shows of this machine."""

from pathlib import Path

from runner.isolation.sandbox import Bind, Machine, Sandbox, bwrap_argv
from runner.isolation.visible import gpu_devices, kernel_files, machine, outermost, program_paths

JOB = Path("/job")


def words(machine: Machine, **more: object) -> str:
    sandbox = Sandbox(machine=machine, **more)  # type: ignore[arg-type]
    env = {"HOME": "/job/home", "X": "a b"}
    argv = bwrap_argv(sandbox, ("ncu", "--x"), JOB / "src", env, status_fd=7, block_fd=8)
    return " ".join(argv)


def test_the_whole_command() -> None:
    seen = Machine(
        bwrap="bwrap",
        read_only=(Path("/usr"),),
        links=((Path("/lib"), "usr/lib"),),
        hidden=(Bind(Path("/dev/null"), Path("/usr/ncubot.toml")),),
        hidden_folders=(Path("/usr/data"),),
        kernel=(Bind(Path("/proc/sys"), Path("/proc/sys")),),
        shm_bytes=4096,
    )
    binds = (Bind(Path("/d/src"), JOB / "src", writable=True), Bind(Path("/d/e"), JOB / "src/e"))
    assert words(seen, binds=binds, devices=(Path("/dev/nvidia0"),)) == (
        "bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --new-session "
        "--hostname runner --cap-drop ALL --bind /d/src /job/src --ro-bind /d/e /job/src/e "
        "--ro-bind /usr /usr --symlink usr/lib /lib --tmpfs /usr/data --remount-ro /usr/data "
        "--ro-bind /dev/null /usr/ncubot.toml --proc /proc --ro-bind /proc/sys /proc/sys "
        "--dev /dev --dev-bind /dev/nvidia0 /dev/nvidia0 --size 4096 --tmpfs /dev/shm "
        "--remount-ro /dev --remount-ro / --chdir /job/src --clearenv --setenv HOME /job/home "
        "--setenv X a b --json-status-fd 7 --block-fd 8 -- ncu --x"
    )


def test_capabilities_are_dropped_unless_they_are_asked_for() -> None:
    kept = words(Machine(bwrap="bwrap", capabilities=("CAP_SYS_ADMIN",)))
    assert "--cap-drop ALL --cap-add CAP_SYS_ADMIN" in kept
    assert "--unshare-net" in kept
    assert "--unshare-all" not in kept
    assert "--unshare-user" not in kept
    assert "--disable-userns" not in words(Machine(bwrap="bwrap", nested_namespaces=True))


def test_what_lies_in_something_seen_is_not_named_twice(tmp_path: Path) -> None:
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    paths = (inner, tmp_path / "a", tmp_path / "none", Path("/usr/lib"))
    assert outermost(paths, besides=(Path("/usr"),)) == (tmp_path / "a",)


def test_data_and_settings_are_covered_where_they_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "python/data").mkdir(parents=True)
    (tmp_path / "python/ncubot.toml").touch()
    (tmp_path / "elsewhere").mkdir()
    hide = (tmp_path / "python/data", tmp_path / "python/ncubot.toml", tmp_path / "elsewhere")
    seen = machine("bwrap", (tmp_path / "python", Path("/")), hide=hide, shm_bytes=4096)
    assert tmp_path / "python" in seen.read_only
    assert Path("/") not in seen.read_only
    assert seen.hidden_folders == (tmp_path / "python/data",)
    assert [bind.target for bind in seen.hidden] == [tmp_path / "python/ncubot.toml"]
    tops = {path.parts[1] for path in seen.read_only}
    assert not tops & {"root", "home", "var", "run", "proc"}


def test_a_link_is_shown_with_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    seen = machine("bwrap", (tmp_path / "link",), hide=(), shm_bytes=4096)
    assert {tmp_path / "link", tmp_path / "real"} <= set(seen.read_only)


def test_a_programs_folder_is_found(tmp_path: Path) -> None:
    toolkit = tmp_path / "cuda/bin"
    toolkit.mkdir(parents=True)
    (tmp_path / "cuda/nvvm").mkdir()
    (toolkit / "nvcc").touch(mode=0o755)
    assert set(program_paths(str(toolkit / "nvcc"))) == {toolkit, tmp_path / "cuda"}
    assert list(program_paths("no-such-program")) == []


def test_only_the_jobs_gpu_is_seen(tmp_path: Path) -> None:
    dev, driver = tmp_path / "dev", tmp_path / "gpus"
    dev.mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (dev / name).touch()
    for minor, uuid in enumerate(("GPU-a", "GPU-b")):
        folder = driver / f"0000:0{minor}:00.0"
        folder.mkdir(parents=True)
        text = f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n"
        (folder / "information").write_text(text, encoding="utf-8")
    found = {gpu: [path.name for path in gpu_devices(gpu, dev, driver)] for gpu in ("GPU-b", "")}
    assert found["GPU-b"] == ["nvidia-uvm", "nvidia1", "nvidiactl"]
    assert found[""] == ["nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl"]


def test_the_kernels_files_are_covered(tmp_path: Path) -> None:
    for folder in ("sys", "17"):
        (tmp_path / folder).mkdir()
    for name, mode in (("kcore", 0o400), ("mtrr", 0o644), ("uptime", 0o444)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    (tmp_path / "self").symlink_to("17")
    covered = {bind.target.name: str(bind.source) for bind in kernel_files(tmp_path)}
    assert covered == {
        "kcore": "/dev/null",
        "mtrr": str(tmp_path / "mtrr"),
        "sys": str(tmp_path / "sys"),
    }


def test_proc_sys_is_among_them() -> None:
    assert Bind(Path("/proc/sys"), Path("/proc/sys")) in kernel_files()
