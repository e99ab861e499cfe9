"""The REST calls of the small Discord by name, with the path and the limit of each."""

from dataclasses import dataclass
from enum import StrEnum


class Call(StrEnum):
    """A route of the API that the bot uses."""

    ME = "me"
    APPLICATION = "application"
    GATEWAY = "gateway"
    COMMANDS = "commands"
    CALLBACK = "callback"
    ORIGINAL = "original"
    EDIT_ORIGINAL = "edit-original"
    DELETE_ORIGINAL = "delete-original"
    FOLLOW_UP = "follow-up"
    GET_FOLLOW_UP = "get-follow-up"
    EDIT_FOLLOW_UP = "edit-follow-up"
    DELETE_FOLLOW_UP = "delete-follow-up"
    OPEN_DM = "open-dm"
    SEND = "send"
    LIST = "list"
    GET = "get"
    EDIT = "edit"
    DELETE = "delete"
    THREAD = "thread"
    THREADS = "threads"
    ADD_MEMBER = "add-member"
    CHANNEL = "channel"
    USER = "user"
    GUILD = "guild"
    MEMBER = "member"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `calls` in `seconds`, apart for each value of the path's `by`; `shared` by routes."""

    calls: int
    seconds: float
    by: str = ""
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a call is found, as Discord's description writes the path."""

    method: str
    path: str
    limit: Limit = Limit(10, 10.0)


GLOBAL = Limit(50, 1.0)
"""Of all calls of a bot but those that answer interactions."""
_WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
_ANSWER = Limit(5, 2.0, "webhook_token", "webhook")
_MESSAGES = "/channels/{channel_id}/messages"
_MESSAGE = _MESSAGES + "/{message_id}"
_WRITE = Limit(5, 5.0, "channel_id")
_READ = Limit(50, 10.0, "channel_id")
ROUTES: dict[Call, Route] = {
    Call.ME: Route("GET", "/users/@me"),
    Call.APPLICATION: Route("GET", "/oauth2/applications/@me"),
    Call.GATEWAY: Route("GET", "/gateway/bot"),
    Call.COMMANDS: Route("PUT", "/applications/{application_id}/commands"),
    Call.CALLBACK: Route(
        "POST",
        "/interactions/{interaction_id}/{interaction_token}/callback",
        Limit(5, 2.0, "interaction_token"),
    ),
    Call.ORIGINAL: Route("GET", _WEBHOOK + "/messages/@original", _ANSWER),
    Call.EDIT_ORIGINAL: Route("PATCH", _WEBHOOK + "/messages/@original", _ANSWER),
    Call.DELETE_ORIGINAL: Route("DELETE", _WEBHOOK + "/messages/@original", _ANSWER),
    Call.FOLLOW_UP: Route("POST", _WEBHOOK, _ANSWER),
    Call.GET_FOLLOW_UP: Route("GET", _WEBHOOK + "/messages/{message_id}", _ANSWER),
    Call.EDIT_FOLLOW_UP: Route("PATCH", _WEBHOOK + "/messages/{message_id}", _ANSWER),
    Call.DELETE_FOLLOW_UP: Route("DELETE", _WEBHOOK + "/messages/{message_id}", _ANSWER),
    Call.OPEN_DM: Route("POST", "/users/@me/channels", Limit(10, 2.0)),
    Call.SEND: Route("POST", _MESSAGES, _WRITE),
    Call.LIST: Route("GET", _MESSAGES, _READ),
    Call.GET: Route("GET", _MESSAGE, _READ),
    Call.EDIT: Route("PATCH", _MESSAGE, _WRITE),
    Call.DELETE: Route("DELETE", _MESSAGE, _WRITE),
    Call.THREAD: Route("POST", "/channels/{channel_id}/threads", Limit(50, 300.0, "channel_id")),
    Call.THREADS: Route("GET", "/guilds/{guild_id}/threads/active", Limit(50, 10.0)),
    Call.ADD_MEMBER: Route(
        "PUT", "/channels/{channel_id}/thread-members/{user_id}", Limit(10, 5.0, "channel_id")
    ),
    Call.CHANNEL: Route("GET", "/channels/{channel_id}", Limit(50, 10.0)),
    Call.USER: Route("GET", "/users/{user_id}", Limit(30, 30.0)),
    Call.GUILD: Route("GET", "/guilds/{guild_id}"),
    Call.MEMBER: Route("GET", "/guilds/{guild_id}/members/{user_id}"),
}
