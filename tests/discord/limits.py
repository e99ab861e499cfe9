"""Rate limits in fixed windows, with the headers that tell a client about them."""

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.discord.calls import GLOBAL, ROUTES, Call, Limit

ANSWERS = frozenset({Call.CALLBACK}) | {
    call for call, route in ROUTES.items() if route.path.startswith("/webhooks/")
}
"""Calls that answer interactions; the limit over all calls does not count them."""


@dataclass(slots=True)
class _Window:
    began: float
    used: int = 0


@dataclass(slots=True)
class Limits:
    """What was used of every limit, and which calls went beyond one."""

    broken: Counter[Call] = field(default_factory=Counter)
    _windows: dict[tuple[str, str], _Window] = field(default_factory=dict)

    def take(self, call: Call, path: dict[str, str]) -> tuple[dict[str, str], float | None]:
        """Count a call; return its headers, and the seconds to wait where it is one too many."""
        limit, name = ROUTES[call].limit, ROUTES[call].limit.shared or call.value
        wait = None if call in ANSWERS else self._use(GLOBAL, ("global", ""))[1]
        if wait is not None:
            self.broken[call] += 1
            return {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}, wait
        window, wait = self._use(limit, (name, path.get(limit.by, "")))
        if wait is not None:
            self.broken[call] += 1
        return _headers(limit, name, window), wait

    def _use(self, limit: Limit, key: tuple[str, str]) -> tuple[_Window, float | None]:
        now = time.monotonic()
        window = self._windows.get(key)
        if window is None or now - window.began >= limit.seconds:
            window = self._windows[key] = _Window(now)
        if window.used >= limit.calls:
            return window, window.began + limit.seconds - now
        window.used += 1
        return window, None


def _headers(limit: Limit, name: str, window: _Window) -> dict[str, str]:
    after = max(window.began + limit.seconds - time.monotonic(), 0.0)
    return {
        "X-RateLimit-Limit": str(limit.calls),
        "X-RateLimit-Remaining": str(limit.calls - window.used),
        "X-RateLimit-Reset": f"{time.time() + after:.3f}",
        "X-RateLimit-Reset-After": f"{after:.3f}",
        "X-RateLimit-Bucket": hashlib.sha256(name.encode()).hexdigest()[:32],
        "X-RateLimit-Scope": "user",
    }
