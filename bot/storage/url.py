"""The one builder of database URLs, for the bot and for Alembic."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.storage.errors import DatabaseUrlError

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}


def build_url(text: str) -> URL:
    """Turn what an operator writes into an asynchronous SQLAlchemy URL.

    libpq's `sslmode` becomes asyncpg's `ssl`. Raises DatabaseUrlError, without the text in it:
    there may be a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise DatabaseUrlError("expected sqlite:///PATH or postgresql://USER@HOST/NAME") from None
    if url.drivername not in DRIVERS:
        raise DatabaseUrlError(f"{url.drivername} is neither sqlite nor postgresql")
    if is_sqlite(url) and url.database in {None, "", ":memory:"}:
        raise DatabaseUrlError("a sqlite database needs a file")
    url = url.set(drivername=DRIVERS[url.drivername])
    if "sslmode" in url.query:
        mode = url.query["sslmode"]
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url


def is_sqlite(url: URL) -> bool:
    """Whether the bot itself keeps this database's tables up to date."""
    return url.get_backend_name() == "sqlite"


def place(url: URL) -> str:
    """Name the database without its password."""
    return url.render_as_string(hide_password=True)
