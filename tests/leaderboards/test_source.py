"""What may be typed as a source, and what is made of it."""

from pathlib import Path

import pytest

from bot.leaderboards.errors import SourceError
from bot.leaderboards.source import Folder, Repository, at_ref, find_source


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    (tmp_path / "problems" / "first").mkdir(parents=True)
    (tmp_path / "problems" / "out").symlink_to("/")
    return tmp_path / "problems"


@pytest.mark.parametrize(
    ("text", "url", "label", "server"),
    [
        (
            "gpu-mode/reference-kernels",
            "https://github.com/gpu-mode/reference-kernels",
            "https://github.com/gpu-mode/reference-kernels",
            "https://github.com",
        ),
        (
            "https://github.com/Owner/Name.git",
            "https://github.com/Owner/Name.git",
            "https://github.com/owner/name",
            "https://github.com",
        ),
        (
            "https://git.example.org:8443/a/b/c",
            "https://git.example.org:8443/a/b/c",
            "https://git.example.org:8443/a/b/c",
            "https://git.example.org:8443",
        ),
        ("ssh://git@host/a.git", "ssh://git@host/a.git", "ssh://host/a", None),
        ("git@github.com:o/n.git", "git@github.com:o/n.git", "ssh://github.com/o/n", None),
        (
            "http://127.0.0.1:1/x",
            "http://127.0.0.1:1/x",
            "http://127.0.0.1:1/x",
            "http://127.0.0.1:1",
        ),
        ("file:///srv/x.git", "file:///srv/x.git", "/srv/x", None),
    ],
)
def test_repositories(problems: Path, text: str, url: str, label: str, server: str | None) -> None:
    assert find_source(text, problems, anywhere=True) == Repository(url, label, server)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-x",
        "--upload-pack=touch x",
        "https://-oProxyCommand=x/a",
        "https://github.com/-x",
        "https://github.com",
        "https://github.com/a?b=c",
        "https://user:secret-word@github.com/a/b",
        "https://secret-word@github.com/a/b",
        "https://[/a",
        "https://host:port/a",
        "http://example.org/a",
        "http://localhost.example.org/a",
        "file://host/a",
        "ext::sh -c touch% x",
        "ext://a/b",
        "git://a/b",
        "ftp://a/b",
        "-oProxyCommand=x:a",
        "host:-x",
        "a/b/c",
        "owner/na me",
        "a\nb",
        "x" * 501,
    ],
)
@pytest.mark.parametrize("anywhere", [True, False])
def test_what_is_no_source(problems: Path, text: str, anywhere: bool) -> None:
    with pytest.raises(SourceError) as refused:
        find_source(text, problems, anywhere=anywhere)
    assert "secret-word" not in refused.value.source + refused.value.reason


def test_folders_are_named_so_that_an_update_does_not_rename_them(
    problems: Path, tmp_path: Path
) -> None:
    assert find_source(".", problems, anywhere=False) == Folder(problems, "problems")
    inside = Folder(problems / "first", "problems/first")
    assert find_source("first", problems, anywhere=False) == inside
    assert find_source(str(problems / "first"), problems, anywhere=True) == inside
    assert find_source(str(tmp_path), problems, anywhere=True) == Folder(tmp_path, str(tmp_path))


@pytest.mark.parametrize("text", ["..", "../problems/..", "/etc", "out", "nowhere", "file:///etc"])
def test_from_discord_nothing_outside_the_problems_folder_is_read(
    problems: Path, text: str
) -> None:
    with pytest.raises(SourceError):
        find_source(text, problems, anywhere=False)


@pytest.mark.parametrize(
    "ref", ["main", "feature/a-b", "v1.0", "a" * 40, "refs/heads/main", "ümlaut", "a@b"]
)
def test_refs(problems: Path, ref: str) -> None:
    repository = Repository("https://h/x", "https://h/x")
    assert at_ref(repository, ref) is repository
    assert at_ref(Folder(problems, "problems"), ref) == Repository(problems.as_uri(), "problems")


@pytest.mark.parametrize(
    "ref",
    [
        *("", "-x", "--upload-pack=x", "a..b", "a b", "a*", "a?", "a[b", "a:b", "a^", "a~1"),
        *("@{0}", "a//b", "/a", "a/", "a.", ".a", "a.lock", "a/.b", "a\nb", "a\x7f", "x" * 501),
    ],
)
def test_what_is_no_ref(ref: str) -> None:
    with pytest.raises(SourceError, match="no name that a branch, tag or commit can have"):
        at_ref(Repository("https://h/x", "https://h/x"), ref)
