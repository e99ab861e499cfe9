"""What the evaluator does on its way through `profile` under ncu, in order."""

from dataclasses import dataclass, field
from enum import Enum, auto

MAX_STEPS = 200_000
MAX_EVENTS = 20_000


class Kind(Enum):
    """What was seen."""

    CALL = auto()  # a function of the submission
    OPEN = auto()  # a push/pop range
    START_END = auto()  # a start/end range
    RECORD = auto()  # torch.profiler.record_function
    PROFILER = auto()  # torch.profiler started
    SYNC = auto()
    SET_UP = auto()  # inputs generated or cloned
    CHECK = auto()  # the reference's own work
    MODE = auto()  # the mode was looked at
    TRUTH = auto()  # POPCORN_NCU tested by truth
    PATTERN = auto()  # a regular expression was applied
    OPAQUE = auto()  # a call that could not be followed
    LEFT = auto()  # work handed to another thread or process, out of the open range
    LOCAL_WORKER = auto()  # a function that a spawned process cannot import


@dataclass(frozen=True, slots=True)
class Open:
    """A push/pop range that is open; `name` is None where it cannot be told.

    `loops` are the loops around its opening.
    """

    name: str | None
    domain: bool = False
    loops: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, and what was in force when it did.

    `ranges` are the open push/pop ranges of the thread, outermost first; `opening` numbers the
    innermost one. `sure` is False behind a condition that could not be decided.
    """

    kind: Kind
    file: str
    line: int
    text: str = ""
    ranges: tuple[Open, ...] = ()
    opening: int = 0
    profiled: bool = False
    recorded: bool = False
    sure: bool = True
    loops: int = 0


@dataclass(slots=True)
class State:
    """What is in force in one thread."""

    ranges: tuple[Open, ...] = ()
    openings: tuple[int, ...] = ()
    profiled: bool = False
    recorded: int = 0


class Exhausted(Exception):  # noqa: N818 - it says what happened
    """The source is too much to be followed."""


@dataclass(slots=True)
class Trace:
    """Events so far, and the bounds of the walk."""

    events: list[Event] = field(default_factory=list)
    state: State = field(default_factory=State)
    unsure: int = 0
    loops: int = 0
    steps: int = 0
    opened: int = 0

    def step(self) -> None:
        """Count one node of the source. Raises Exhausted."""
        self.steps += 1
        if self.steps > MAX_STEPS or len(self.events) > MAX_EVENTS:
            raise Exhausted

    def note(self, kind: Kind, file: str, line: int, text: str = "") -> None:
        """Add an event."""
        state = self.state
        self.events.append(
            Event(
                kind,
                file,
                line,
                text,
                state.ranges,
                state.openings[-1] if state.openings else 0,
                state.profiled,
                state.recorded > 0,
                self.unsure == 0,
                self.loops,
            )
        )

    def push(self, name: str | None, *, domain: bool) -> None:
        """Open a range."""
        self.opened += 1
        self.state.ranges = (*self.state.ranges, Open(name, domain, self.loops))
        self.state.openings = (*self.state.openings, self.opened)

    def pop(self) -> None:
        """Close the innermost range."""
        self.state.ranges = self.state.ranges[:-1]
        self.state.openings = self.state.openings[:-1]
