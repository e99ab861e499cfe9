"""What somebody types as the source of a sync -> a folder or a git repository."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.leaderboards.errors import SourceError
from runner_client.address import is_loopback

MAX_SOURCE = 500
GITHUB = "github.com"
_OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_SCP = re.compile(
    r"(?P<user>[A-Za-z0-9_][\w.-]*@)?(?P<host>[A-Za-z0-9][\w.-]*):(?P<path>/?[\w~][^:]*)"
)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|[0-9a-f:.]+")
# The rules of git check-ref-format, without what ls-remote takes for a pattern.
_REF = re.compile(r"(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))(?![/.-])[^\x00-\x20\x7f~^:?*\[\\]+")
SCHEMES = ("https", "ssh", "file", "http")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine, read as it lies there. `label` names the source in the tables."""

    path: Path
    label: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository. `server` (scheme and host) says which token belongs to it, if any."""

    url: str
    label: str
    server: str | None = None


def find_source(text: str, problems: Path, *, anywhere: bool) -> Folder | Repository:
    """Understand a source: a folder, a git URL, or `owner/name` of GitHub.

    A folder is looked for inside `problems`, and with `anywhere` on the whole machine first.
    Without it no other path of this machine is read. Raises SourceError. Blocks on the disk.
    """
    if not text or len(text) > MAX_SOURCE or not text.isprintable() or text.startswith("-"):
        raise SourceError(text[:100], "expected a folder, a git URL or owner/name")
    if anywhere and Path(text).is_dir():
        return Folder(Path(text), label(Path(text), problems))
    inside = _inside(problems, text)
    if inside is not None:
        return Folder(inside, label(inside, problems))
    if "://" in text:
        return _url(text, anywhere=anywhere)
    if _OWNER_NAME.fullmatch(text):
        return _url(f"https://{GITHUB}/{text}", anywhere=anywhere)
    scp = _SCP.fullmatch(text)
    if scp is not None:
        path = scp["path"].removesuffix(".git")
        return Repository(text, f"ssh://{scp['host'].lower()}/{path}")
    where = "" if anywhere else " inside the bot's problems folder"
    raise SourceError(text, f"no such folder{where}, and neither a git URL nor owner/name")


def label(folder: Path, problems: Path) -> str:
    """Name a folder so that it stays the same when the bot's own problems move along with it."""
    real, root = folder.resolve(), problems.resolve()
    if not real.is_relative_to(root):
        return str(real)
    return str(Path("problems") / real.relative_to(root))


def at_ref(source: Folder | Repository, ref: str | None) -> Folder | Repository:
    """Take a folder as a repository where a ref of it is wanted. Raises SourceError."""
    if ref is None:
        return source
    if len(ref) > MAX_SOURCE or not _REF.fullmatch(ref) or ref.endswith(("/", ".")):
        raise SourceError(ref[:100], "no name that a branch, tag or commit can have")
    if isinstance(source, Repository):
        return source
    return Repository(source.path.resolve().as_uri(), source.label)


def _inside(problems: Path, text: str) -> Path | None:
    try:
        found = (problems / text).resolve()
        fits = found.is_relative_to(problems.resolve()) and found.is_dir()
    except (OSError, ValueError, RuntimeError):
        return None
    return found if fits else None


def _url(text: str, *, anywhere: bool) -> Repository:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SourceError(text, "not a URL") from None
    scheme = parts.scheme.lower()
    _check_scheme(text, scheme, host, anywhere=anywhere)
    if parts.password or (parts.username and scheme != "ssh"):
        raise SourceError(f"{scheme}://{host}", "expected no user or password, set git_tokens")
    if parts.query or parts.fragment or (scheme != "file" and not _HOST.fullmatch(host)):
        raise SourceError(text, "expected a URL of a host and a path")
    if not parts.path.strip("/") or parts.path.startswith("/-"):
        raise SourceError(text, "expected a URL with the path of a repository")
    return _repository(text, scheme, _with_port(host, port), parts.path)


def _check_scheme(text: str, scheme: str, host: str, *, anywhere: bool) -> None:
    if scheme not in SCHEMES or (scheme == "file" and not anywhere):
        raise SourceError(text, f"{scheme[:20]} is not read, use https or ssh")
    if scheme == "http" and not is_loopback(host):
        raise SourceError(text, "plain http is not read, use https")
    if scheme == "file" and host:
        raise SourceError(text, "expected file:/// and a path")


def _with_port(host: str, port: int | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"


def _repository(url: str, scheme: str, host: str, path: str) -> Repository:
    path = path.strip("/").removesuffix(".git")
    if scheme == "file":
        return Repository(url, f"/{path}")
    if host == GITHUB:
        path = path.lower()
    server = f"{scheme}://{host}" if scheme in {"https", "http"} else None
    return Repository(url, f"{scheme}://{host}/{path}", server)
