"""Discord's error codes as its documentation has them, with the status each comes with."""

from dataclasses import dataclass
from http import HTTPStatus

ERRORS: dict[int, tuple[int, str]] = {
    0: (500, "Internal Server Error"),
    10003: (404, "Unknown Channel"),
    10008: (404, "Unknown Message"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10013: (404, "Unknown User"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    40001: (401, "Unauthorized"),
    40003: (429, "You are opening direct messages too fast"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50013: (403, "Missing Permissions"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50278: (403, "Cannot send messages to this user due to having no mutual guilds"),
}


@dataclass(frozen=True, slots=True)
class Refused(Exception):  # noqa: N818 - it is an answer, not a fault of ours
    """An answer that is not 2xx; `detail` goes behind the code's own words."""

    code: int
    detail: str = ""

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return ERRORS[self.code][0]

    @property
    def body(self) -> dict[str, object]:
        """Return the body as Discord words it."""
        words = ERRORS[self.code][1]
        return {"message": f"{words} {self.detail}".strip(), "code": self.code}

    def __str__(self) -> str:
        return f"{self.status} {HTTPStatus(self.status).phrase}: {self.code}"
