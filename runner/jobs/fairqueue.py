"""The order of waiting jobs: fair between users, first come first served within one.

Start-time fair queueing with jobs of one size. Each user has a turn, the round in which his next
job starts; the smallest turn goes first, in a round always in the order in which the users came. So
nobody who waits is passed twice by one user. A user who comes anew enters in the round that is
being served, so his first job passes every second job of others.
"""

from itertools import count


class FairQueue:
    """Ids of waiting jobs, each with its user. Every operation but `order` is fast."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, None]] = {}
        self._came: dict[str, int] = {}
        self._user_of: dict[str, str] = {}
        self._turns: dict[str, int] = {}
        self._round = 0
        self._arrivals = count()

    def __len__(self) -> int:
        return len(self._user_of)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._user_of

    def waiting(self, user: str) -> int:
        """Return how many jobs of a user wait."""
        return len(self._waiting.get(user, ()))

    def push(self, job_id: str, user: str) -> None:
        """Let a job wait; its id must be new."""
        if user not in self._waiting:
            self._turns[user] = max(self._round, self._turns.get(user, 0))
            self._came.setdefault(user, next(self._arrivals))
        self._waiting.setdefault(user, {})[job_id] = None
        self._user_of[job_id] = user

    def pop(self) -> str:
        """Take out the job that starts next. Raises LookupError where none waits."""
        if not self._waiting:
            raise LookupError("no job waits")
        user = min(self._waiting, key=self._rank)
        job_id = next(iter(self._waiting[user]))
        self._round = self._turns[user]
        self._turns[user] += 1
        self.remove(job_id)
        self._forget_past_turns()
        return job_id

    def remove(self, job_id: str) -> bool:
        """Take out one job; False where it does not wait. Nobody loses his turn by it."""
        user = self._user_of.pop(job_id, None)
        if user is None:
            return False
        del self._waiting[user][job_id]
        if not self._waiting[user]:
            del self._waiting[user]
        return True

    def order(self) -> tuple[str, ...]:
        """Return the ids in the order in which they start if nobody comes or goes."""
        ranks = (
            (self._turns[user] + place, self._came[user], job_id)
            for user, jobs in self._waiting.items()
            for place, job_id in enumerate(jobs)
        )
        return tuple(job_id for _, _, job_id in sorted(ranks))

    def rest(self) -> None:
        """Begin anew when nothing waits or runs: who was served before no longer counts."""
        if not self._waiting:
            self._turns.clear()
            self._came.clear()

    def _rank(self, user: str) -> tuple[int, int]:
        return self._turns[user], self._came[user]

    def _forget_past_turns(self) -> None:
        past = [
            user
            for user, turn in self._turns.items()
            if turn <= self._round and user not in self._waiting
        ]
        for user in past:
            del self._turns[user], self._came[user]
