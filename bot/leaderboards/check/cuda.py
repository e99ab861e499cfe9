"""What a CUDA evaluator does in `profile` mode under ncu, by following its tokens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from bot.leaderboards.check.cuda_conditions import Conditions
from bot.leaderboards.check.cuda_source import CudaFunction, Program, read_program
from bot.leaderboards.check.cuda_tokens import OPENING, Sort, Token, closing, parts
from bot.leaderboards.check.libraries import MODE, OTHER_MODES
from bot.leaderboards.check.machine import MAX_FRAMES, Unreadable
from bot.leaderboards.check.python import TOO_DEEP, TOO_MUCH, Followed
from bot.leaderboards.check.trace import Exhausted, Kind, Trace
from bot.leaderboards.model import Task
from runner_client.wire import CudaEvaluator

ENTRY = "custom_kernel"
_NOTED = (
    (("cudaDeviceSynchronize", "cudaStreamSynchronize"), Kind.SYNC),
    (("nvtxRangeStart",), Kind.START_END),
    (("generate_input",), Kind.SET_UP),
    (("check_implementation",), Kind.CHECK),
    ((ENTRY,), Kind.CALL),
)
_EXITS = {"exit", "_exit", "abort", "quick_exit"}
_LEAVING = {"return", "throw", "goto", "break", "continue"}


def follow_cuda(task: Task, evaluator: CudaEvaluator) -> Followed:
    """Follow the evaluator from `main`. Raises Unreadable."""
    first = evaluator.sources[0]
    try:
        program = read_program(task, evaluator)
        walk = _Walk(program, Conditions(program.texts))
        walk.entry()
    except RecursionError:
        raise Unreadable(first, None, TOO_DEEP) from None
    except Exhausted:
        raise Unreadable(first, None, TOO_MUCH) from None
    return Followed(tuple(walk.trace.events), tuple(program.files), walk.uses_hip)


@dataclass(slots=True)
class _Walk:
    """A walk; `scopes` counts, for each block around, the ranges that end with it."""

    program: Program
    conditions: Conditions
    trace: Trace = field(default_factory=Trace)
    file: str = ""
    frames: list[CudaFunction] = field(default_factory=list)
    scopes: list[int] = field(default_factory=list)
    quiet: set[str] = field(default_factory=set)

    @property
    def uses_hip(self) -> bool:
        """Whether the evaluator is written for AMD."""
        included = [name for source in self.program.sources for name in source.includes]
        return any(name.startswith("hip/") for name in included)

    def entry(self) -> None:
        """Follow `main`, and what tables at file scope give for the mode."""
        self.file = self.program.files[0] if self.program.files else ""
        for source in self.program.sources:
            self._find_ncu(source.tokens)
        self.call("main")
        for source in self.program.sources:
            self.file = source.file
            self._tables(source.tokens)
        for file, line in self.conditions.asked:
            self.file = file
            self.note(Kind.MODE, line)
        if not self.conditions.compared:
            for file, line in self.conditions.presence[:1]:
                self.file = file
                self.note(Kind.TRUTH, line)

    def note(self, kind: Kind, line: int, text: str = "") -> None:
        self.trace.note(kind, self.file, line, text)

    def _find_ncu(self, tokens: list[Token]) -> None:
        """Find the variables that hold POPCORN_NCU's value."""
        for place, token in enumerate(tokens):
            if token.sort is Sort.TEXT and token.text == "POPCORN_NCU":
                before = tokens[max(place - 12, 0) : place]
                for name, mark in pairwise(before):
                    if mark.text in {"=", "{"} and name.sort is Sort.NAME:
                        self.conditions.ncu.add(name.text)

    def _tables(self, tokens: list[Token]) -> None:
        """`{"profile", run_profile}` in a table is a dispatch by its name."""
        for token, comma, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if token.sort is not Sort.TEXT or token.text != MODE or comma.text != ",":
                continue
            if value.text in self.program.functions:
                self.conditions.asked.append((self.file, token.line))
                self.call(value.text)

    def call(self, name: str) -> None:
        """Follow every function of that name; what does nothing of interest, only once."""
        if name in self.quiet or len(self.frames) >= MAX_FRAMES:
            return
        seen, file = len(self.trace.events), self.file
        for function in self.program.functions.get(name, []):
            if function not in self.frames:
                self.frames.append(function)
                self.file = self.conditions.file = function.file
                self.block(function.body)
                self.frames.pop()
        self.file = self.conditions.file = file
        if len(self.trace.events) == seen:
            self.quiet.add(name)

    def block(self, tokens: list[Token]) -> bool:
        """Follow statements; return whether they surely leave the block."""
        self.scopes.append(0)
        place, left = 0, False
        while place < len(tokens) and not left:
            self.trace.step()
            place, left = self._statement(tokens, place)
        for _ in range(self.scopes.pop()):
            self.trace.pop()
        return left

    def _statement(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        """Follow one statement; return where the next begins, and whether this one leaves."""
        text = tokens[place].text if tokens[place].sort is not Sort.TEXT else ""
        if text in _LABELS:
            return _after_label(tokens, place), False
        if text in self._structures:
            return self._structures[text](tokens, place)
        end = _end(tokens, place)
        exits = self.expression(tokens[place:end])
        return end, exits or text in _LEAVING

    @property
    def _structures(self) -> dict[str, Callable[[list[Token], int], tuple[int, bool]]]:
        return {
            "{": self._braces,
            "if": self._if,
            "for": self._loop,
            "while": self._loop,
            "catch": self._catch,
            "switch": self._switch,
            **dict.fromkeys(_WORDS, _skip),
        }

    def _braces(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        end = closing(tokens, place)
        return end + 1, self.block(tokens[place + 1 : end])

    def _switch(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        head, begin = _head(tokens, place)
        self.expression(head)
        end = _end(tokens, begin)
        for label, body in _cases(tokens[begin + 1 : end - 1]):
            word = self.conditions.mode_of(label)
            if word is None:
                self._unsure(body)
            elif word == MODE:
                self.block(body)
        return end, False

    def _if(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        if tokens[place + 1 : place + 2] and tokens[place + 1].text == "constexpr":
            place += 1
        head, begin = _head(tokens, place)
        self.expression(head)
        held = self.conditions.holds(list(parts(head, ";"))[-1])
        end = _end(tokens, begin)
        bodies, after = [tokens[begin:end]], end
        if end < len(tokens) and tokens[end].text == "else":
            after = _end(tokens, end + 1)
            bodies.append(tokens[end + 1 : after])
        else:
            bodies.append([])
        if held is not None:
            return after, self.block(bodies[0] if held else bodies[1])
        left = [self._unsure(body) for body in bodies]
        return after, all(left)

    def _unsure(self, tokens: list[Token]) -> bool:
        self.trace.unsure += 1
        left = self.block(tokens)
        self.trace.unsure -= 1
        return left

    def _loop(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        head, begin = _head(tokens, place)
        self.expression(head)
        end = _end(tokens, begin)
        self.trace.loops += 1
        self.block(tokens[begin:end])
        self.trace.loops -= 1
        return end, False

    def _catch(self, tokens: list[Token], place: int) -> tuple[int, bool]:
        _, begin = _head(tokens, place)
        end = _end(tokens, begin)
        for label, body in _cases(tokens[begin + 1 : end - 1]):
            word = self.conditions.mode_of(label)
            if word is None:
                self._unsure(body)
            elif word == MODE:
                self.block(body)
        return end, False

    def expression(self, tokens: list[Token]) -> bool:
        """Follow the calls in an expression or declaration; whether it exits the program."""
        self._remember(tokens)
        exits = False
        for place, token in enumerate(tokens):
            self.trace.step()
            if token.sort is Sort.NAME:
                self._name(tokens, place)
                exits = exits or (token.text in _EXITS and _is_call(tokens, place))
        return exits

    def _remember(self, tokens: list[Token]) -> None:
        """`const bool under_ncu = ...;` keeps what the condition gives."""
        texts = [token.text for token in tokens]
        if "bool" in texts and "=" in texts:
            place = texts.index("=")
            held = self.conditions.holds([one for one in tokens[place + 1 :] if one.text != ";"])
            if held is not None and place:
                self.conditions.known[texts[place - 1]] = held

    def _name(self, tokens: list[Token], place: int) -> None:
        token = tokens[place]
        name = token.text
        noted = next((kind for names, kind in _NOTED if name.startswith(names)), None)
        if noted is not None:
            self.note(noted, token.line, name)
        elif name in self.program.pushes or name in self.program.scoped:
            self._open(tokens, place)
        elif name in self.program.pops:
            self.trace.pop()
        elif name == "regex":
            for text in _texts(tokens[place : place + 5])[:1]:
                self.note(Kind.PATTERN, token.line, text)
        elif name in self.program.functions and not _of_other_mode(tokens, place):
            self.call(name)

    def _open(self, tokens: list[Token], place: int) -> None:
        name, token = tokens[place].text, tokens[place]
        given = self._range_name(tokens[place : place + 12])
        if given is None:
            given = self._attribute_name()
        if name in self.program.scoped:
            self.scopes[-1] += 1
        self.trace.push(given, domain=name == "scoped_range_in")
        self.note(Kind.OPEN, token.line, given or "")

    def _range_name(self, tokens: list[Token]) -> str | None:
        for token in tokens:
            if token.text == ";":
                return None
            if token.sort is Sort.TEXT:
                return token.text
            if token.text in self.program.texts:
                return self.program.texts[token.text]
        return None

    def _attribute_name(self) -> str | None:
        """`attributes.message.ascii = "custom_kernel";` in the same function."""
        body = self.frames[-1].body
        for name, mark, text in zip(body, body[1:], body[2:], strict=False):
            if name.text == "ascii" and mark.text == "=" and text.sort is Sort.TEXT:
                return text.text
        return None


_WORDS = {"else", "try", "do", ";", "constexpr"}
_LABELS = {"case", "default", "public", "private", "protected"}


def _skip(_: list[Token], place: int) -> tuple[int, bool]:
    return place + 1, False


def _head(tokens: list[Token], place: int) -> tuple[list[Token], int]:
    """Return what stands in the brackets after a word, and where the body begins."""
    if place + 1 >= len(tokens) or tokens[place + 1].text != "(":
        return [], place + 1
    end = closing(tokens, place + 1)
    return tokens[place + 2 : end], end + 1


def _end(tokens: list[Token], place: int) -> int:
    """Return where the statement that begins at `place` is over."""
    text = tokens[place].text if place < len(tokens) else ""
    if text == "{":
        return min(closing(tokens, place) + 1, len(tokens))
    if text in {"if", "for", "while", "switch"}:
        after = _end(tokens, _head(tokens, place)[1])
        if text == "if" and after < len(tokens) and tokens[after].text == "else":
            return _end(tokens, after + 1)
        return after
    while place < len(tokens) and tokens[place].text != ";":
        opens = tokens[place].sort is Sort.MARK and tokens[place].text in OPENING
        place = (closing(tokens, place) if opens else place) + 1
    return min(place + 1, len(tokens))


def _cases(tokens: list[Token]) -> Iterator[tuple[list[Token], list[Token]]]:
    """Split the body of a switch into labels and what stands behind each."""
    place, label, begin = 0, tokens[:0], 0
    while place < len(tokens):
        token = tokens[place]
        if token.sort is Sort.NAME and token.text in {"case", "default"}:
            yield label, tokens[begin:place]
            begin = _after_label(tokens, place)
            label = tokens[place : begin - 1]
        opens = token.sort is Sort.MARK and token.text in OPENING
        place = (closing(tokens, place) if opens else place) + 1
    yield label, tokens[begin:]


def _after_label(tokens: list[Token], place: int) -> int:
    for at in range(place, min(place + 20, len(tokens))):
        if tokens[at].text == ":":
            return at + 1
    return place + 1


def _is_call(tokens: list[Token], place: int) -> bool:
    return place + 1 < len(tokens) and tokens[place + 1].text == "("


def _texts(tokens: list[Token]) -> list[str]:
    return [token.text for token in tokens if token.sort is Sort.TEXT]


def _of_other_mode(tokens: list[Token], place: int) -> bool:
    """Whether a function stands in a table as what another mode runs."""
    if place < 2 or tokens[place - 1].text != ",":
        return False
    before = tokens[place - 2]
    return before.sort is Sort.TEXT and before.text in OTHER_MODES
