"""Routes that are found also where the server's address was written with a slash at its end."""

from aiohttp import web

from bot.web.refusals import Handler

_SLASHES = "/{slashes:/*}"
"""The client puts its paths behind the address as it was typed, so that they begin with `//`."""


class Routes:
    """Puts handlers into an application, by paths that begin with one slash."""

    def __init__(self, app: web.Application) -> None:
        self._router = app.router

    def get(self, path: str, handler: Handler) -> None:
        """Answer GET and HEAD."""
        self.add("GET", path, handler)
        self.add("HEAD", path, handler)

    def post(self, path: str, handler: Handler) -> None:
        """Answer POST."""
        self.add("POST", path, handler)

    def delete(self, path: str, handler: Handler) -> None:
        """Answer DELETE."""
        self.add("DELETE", path, handler)

    def add(self, method: str, path: str, handler: Handler) -> None:
        """Answer a method, or every one for `*`."""
        self._router.add_route(method, _SLASHES + path.removeprefix("/"), handler)
