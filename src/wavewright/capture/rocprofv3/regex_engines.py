"""Whether a regex of a name filter finds a kernel's name, as the engines of the two families of releases decide it.

One parser reads what both have in common, and what only std::regex has. Two matchers differ in one thing: AMD's own
engine gives every part of a pattern one single end. Only a repetition that stands directly in a sequence is tried
again with fewer or more; alternatives, and repetitions inside a group of several parts, are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from wavewright.capture.rocprofv3.releases import RegexEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIGITS = frozenset(b"0123456789")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_SPACES = frozenset(b" \t\n\r\f\v")
_ALL = frozenset(range(256))
_SETS = {"d": _DIGITS, "D": _ALL - _DIGITS, "w": _WORD, "W": _ALL - _WORD, "s": _SPACES, "S": _ALL - _SPACES}
_CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
#: Steps of a matcher after which it gives up, less than a second.
_STEPS_MAX = 500_000
_STATES_MAX = 50_000


class RegexError(ValueError):
    """The engine would refuse the regex, which ends the program that is profiled."""


class UnknownAnswerError(Exception):
    """Beyond what is modelled here, or too much work."""


class Kind(Enum):
    """Parts of a pattern."""

    BYTES = auto()  #: One byte of a set.
    START = auto()
    END = auto()
    SEQUENCE = auto()
    EITHER = auto()
    REPEAT = auto()
    GROUP = auto()


@dataclass(eq=False)
class Node:
    """A part of a pattern."""

    kind: Kind
    accepted: frozenset[int] = frozenset()
    parts: list[Node] = field(default_factory=list)
    least: int = 0
    most: int | None = None  #: None = no limit.
    is_greedy: bool = True


class _Parser:
    """Reads a pattern; raises RegexError for what the engine refuses."""

    def __init__(self, pattern: str, engine: RegexEngine) -> None:
        self.pattern = pattern.encode("utf-8", "surrogateescape")
        self.engine = engine
        self.place = 0

    def parsed(self) -> Node:
        node = self._either()
        if self.place < len(self.pattern):
            raise RegexError("a ) closes nothing")
        return node

    def _peek(self) -> str:
        return chr(self.pattern[self.place]) if self.place < len(self.pattern) else ""

    def _next(self) -> str:
        character = self._peek()
        self.place += 1
        return character

    def _eat(self, character: str) -> bool:
        if self._peek() == character:
            self.place += 1
            return True
        return False

    def _either(self) -> Node:
        branches = [self._sequence()]
        while self._eat("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Node(Kind.EITHER, parts=branches)

    def _sequence(self) -> Node:
        parts = []
        while self._peek() and self._peek() not in ")|":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Node(Kind.SEQUENCE, parts=parts)

    def _repeated(self, atom: Node) -> Node:
        limits = self._limits()
        if limits is None:
            return atom
        if self.engine is RegexEngine.STD and atom.kind in (Kind.START, Kind.END):
            raise RegexError("a repetition has nothing to repeat")
        repeat = Node(Kind.REPEAT, parts=[atom], least=limits[0], most=limits[1], is_greedy=not self._eat("?"))
        if self.engine is RegexEngine.STD and self._peek() and self._peek() in "*+?":
            raise RegexError("a repetition has nothing to repeat")
        return repeat

    def _limits(self) -> tuple[int, int | None] | None:
        for character, limits in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._eat(character):
                return limits
        start = self.place
        if not self._eat("{"):
            return None
        least = self._number()
        most = least
        is_closed = self._eat("}")
        if not is_closed and least is not None and self._eat(","):
            most = self._number()
            is_closed = self._eat("}")
        if least is not None and is_closed:
            if most is not None and most < least:
                if self.engine is RegexEngine.STD:
                    raise RegexError("a repetition ends before it starts")
                least, most = most, least
            return least, most
        if self.engine is RegexEngine.STD:
            raise RegexError("a { is not closed, or holds no numbers")
        self.place = start
        return None

    def _number(self) -> int | None:
        digits = ""
        while self._peek().isdigit():
            digits += self._next()
        return min(int(digits), 1 << 40) if digits else None

    def _atom(self) -> Node:
        character = self._next()
        if character == ".":
            lines = frozenset(b"\n\r") if self.engine is RegexEngine.STD else frozenset()
            return Node(Kind.BYTES, _ALL - lines)
        if character == "^":
            return Node(Kind.START)
        if character == "$":
            return Node(Kind.END)
        if character == "[":
            return Node(Kind.BYTES, self._class())
        if character == "(":
            return self._group()
        if character == "\\":
            return Node(Kind.BYTES, self._escaped())
        if self.engine is RegexEngine.STD and character in "*+?{":
            raise RegexError("a repetition has nothing to repeat")
        return Node(Kind.BYTES, frozenset({ord(character)}))

    def _group(self) -> Node:
        if self.engine is RegexEngine.STD and self._eat("?") and not self._eat(":"):
            if self._peek() in ("=", "!"):
                raise UnknownAnswerError
            raise RegexError("(? starts nothing that this engine knows")
        inner = self._either()
        if not self._eat(")"):
            raise RegexError("a ( is not closed")
        return Node(Kind.GROUP, parts=[inner])

    def _escaped(self) -> frozenset[int]:
        if not self._peek():
            if self.engine is RegexEngine.STD:
                raise RegexError("a \\ ends the pattern")
            return frozenset(b"\\")
        character = self._next()
        if character in _SETS:
            return _SETS[character]
        if character in _CONTROLS:
            return frozenset({_CONTROLS[character]})
        if self.engine is RegexEngine.STD and character.isalnum():
            if character in "bBcxu0123456789":
                raise UnknownAnswerError  # words' ends, code points, back references
            raise RegexError(f"\\{character} means nothing to this engine")
        return frozenset({ord(character)})

    def _class(self) -> frozenset[int]:
        if self.engine is RegexEngine.STD:
            return self._std_class()
        is_negated = self._eat("^")
        accepted: set[int] = set()
        before: int | None = None
        while self._peek() and self._peek() != "]":
            character = self._next()
            if character == "\\":
                character = self._next()
                if character in _SETS:
                    accepted |= _SETS[character] if character != "S" else set()  # \S is read and ignored
                    continue
                character = character or "\0"
            if character == "-" and before is not None and self._peek() != "]":
                end = self._next()
                end = self._next() if end == "\\" else end
                low, high = sorted((before, ord(end or "\0")))
                accepted |= set(range(low, high + 1))
                before = None
                continue
            accepted |= {before} if before is not None else set()
            before = ord(character)
        accepted |= {before} if before is not None else set()
        if not self._eat("]"):
            raise RegexError("a [ is not closed")
        return _ALL - accepted if is_negated else frozenset(accepted)

    def _std_class(self) -> frozenset[int]:
        is_negated = self._eat("^")
        accepted: set[int] = set()
        while self._peek() != "]":
            low = self._member()
            if (
                len(low) == 1
                and self._peek() == "-"
                and self.pattern[self.place + 1 : self.place + 2] not in (b"]", b"")
            ):
                self._next()
                high = self._member()
                if len(high) != 1 or max(high) < max(low):
                    raise RegexError("a range in [ ] ends before it starts")
                accepted |= set(range(max(low), max(high) + 1))
            else:
                accepted |= low
        self._next()
        return _ALL - accepted if is_negated else frozenset(accepted)

    def _ends_with_hyphen(self) -> bool:
        return self.pattern[self.place + 1 : self.place + 2] in (b"]", b"")

    def _member(self) -> frozenset[int]:
        if not self._peek():
            raise RegexError("a [ is not closed")
        character = self._next()
        if character == "[" and self._peek() in (":", "=", "."):
            raise UnknownAnswerError  # classes by name
        return self._escaped() if character == "\\" else frozenset({ord(character)})


class _AmdMatcher:
    """One end per part and place."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.steps = 0
        self.ends: dict[tuple[int, int], int | None] = {}

    def finds(self, root: Node) -> bool:
        # What starts with .* and is not found from the first place on is not found from a later one.
        first = root.parts[0] if root.kind is Kind.SEQUENCE and root.parts else root
        is_anywhere = first.kind is Kind.REPEAT and first.parts[0].accepted == _ALL and not first.least
        places = range(1) if is_anywhere and first.most is None else range(len(self.text) + 1)
        return any(self._end(root, place) is not None for place in places)

    def _end(self, node: Node, place: int) -> int | None:
        if node.kind is Kind.BYTES:
            return place + 1 if place < len(self.text) and self.text[place] in node.accepted else None
        if node.kind is Kind.START:
            return place if place == 0 else None
        if node.kind is Kind.END:
            return place if place == len(self.text) else None
        key = (id(node), place)
        if key not in self.ends:
            self._count()
            self.ends[key] = self._computed(node, place)
        return self.ends[key]

    def _count(self) -> None:
        self.steps += 1
        if self.steps > _STEPS_MAX:
            raise UnknownAnswerError

    def _computed(self, node: Node, place: int) -> int | None:
        if node.kind is Kind.GROUP:
            return self._end(node.parts[0], place)
        if node.kind is Kind.EITHER:
            return next((end for part in node.parts if (end := self._end(part, place)) is not None), None)
        if node.kind is Kind.REPEAT:
            ends = self._repetitions(node, place)
            if len(ends) - 1 < node.least:
                return None
            return ends[-1] if node.is_greedy else ends[node.least]
        return self._sequence_end(node.parts, 0, place)

    def _sequence_end(self, parts: list[Node], start: int, place: int) -> int | None:
        for number in range(start, len(parts)):
            part = parts[number]
            inner = part.parts[0] if part.kind is Kind.GROUP else part
            if inner.kind is Kind.REPEAT:
                ends = self._repetitions(inner, place)[inner.least :]
                for end in reversed(ends) if inner.is_greedy else ends:
                    self._count()
                    last = self._sequence_end(parts, number + 1, end)
                    if last is not None:
                        return last
                return None
            following = self._end(part, place)
            if following is None:
                return None
            place = following
        return place

    def _repetitions(self, node: Node, place: int) -> list[int]:
        """Ends after 0, 1, 2, ... repetitions; one that takes nothing ends the list."""
        ends = [place]
        while node.most is None or len(ends) <= node.most:
            self._count()
            end = self._end(node.parts[0], ends[-1])
            if end is None or end == ends[-1]:
                break
            ends.append(end)
        return ends


class _Automaton:
    """Every way at once: what std::regex finds by going back and trying again."""

    def __init__(self, root: Node) -> None:
        #: Per state: bytes that lead to the next state, or None for the moves of `free`.
        self.accepted: list[frozenset[int] | None] = []
        self.free: list[list[tuple[Kind | None, int]]] = []
        self.target: list[int] = []
        self.goal = self._state()
        self.start = self._built(root, self.goal)

    def _state(self, accepted: frozenset[int] | None = None, target: int = -1) -> int:
        if len(self.accepted) >= _STATES_MAX:
            raise UnknownAnswerError
        self.accepted.append(accepted)
        self.free.append([])
        self.target.append(target)
        return len(self.accepted) - 1

    def _built(self, node: Node, then: int) -> int:
        """The state from which a part leads to the state `then`."""
        if node.kind is Kind.BYTES:
            return self._state(node.accepted, then)
        if node.kind in (Kind.START, Kind.END):
            state = self._state()
            self.free[state].append((node.kind, then))
            return state
        if node.kind is Kind.GROUP:
            return self._built(node.parts[0], then)
        if node.kind is Kind.SEQUENCE:
            for part in reversed(node.parts):
                then = self._built(part, then)
            return then
        if node.kind is Kind.EITHER:
            state = self._state()
            self.free[state] += [(None, self._built(part, then)) for part in node.parts]
            return state
        return self._built_repeat(node, then)

    def _built_repeat(self, node: Node, then: int) -> int:
        part = node.parts[0]
        if node.most is None:
            state = self._state()
            self.free[state] += [(None, self._built(part, state)), (None, then)]
        else:
            state = then
            for _ in range(node.most - node.least):
                choice = self._state()
                self.free[choice] += [(None, self._built(part, state)), (None, then)]
                state = choice
        for _ in range(node.least):
            state = self._built(part, state)
        return state

    def finds(self, text: bytes) -> bool:
        states: set[int] = set()
        steps = 0
        for place in range(len(text) + 1):
            states = self._reached({*states, self.start}, place, len(text))
            if self.goal in states:
                return True
            steps += len(states)
            if steps > _STEPS_MAX:
                raise UnknownAnswerError
            if place < len(text):
                states = set(self._after(states, text[place]))
        return False

    def _after(self, states: set[int], byte: int) -> Iterator[int]:
        for state in states:
            accepted = self.accepted[state]
            if accepted is not None and byte in accepted:
                yield self.target[state]

    def _reached(self, states: set[int], place: int, length: int) -> set[int]:
        queue = list(states)
        reached = set(states)
        while queue:
            for condition, target in self.free[queue.pop()]:
                is_open = condition is None or place == (0 if condition is Kind.START else length)
                if is_open and target not in reached:
                    reached.add(target)
                    queue.append(target)
        return reached


@lru_cache(maxsize=64)
def _parsed(pattern: str, engine: RegexEngine) -> Node:
    return _Parser(pattern, engine).parsed()


def _plain_text(root: Node) -> bytes | None:
    """The text that a pattern is, when it has nothing else; both engines agree about it."""
    parts = root.parts if root.kind is Kind.SEQUENCE else [root]
    if any(part.kind is not Kind.BYTES or len(part.accepted) != 1 for part in parts):
        return None
    return bytes(byte for part in parts for byte in part.accepted)


def finds(pattern: str, name: str, engine: RegexEngine) -> bool | None:
    """Whether a regex is found in a name; None = it cannot be told here (look-ahead, back references, much work).

    Raises
    ------
    RegexError
        When the engine would refuse the regex: the program that is profiled ends then.

    Examples
    --------
    >>> finds("(foo|foobar)<", "foobar<int>", RegexEngine.AMD), finds("(foo|foobar)<", "foobar<int>", RegexEngine.STD)
    (False, True)
    """
    text = name.encode("utf-8", "surrogateescape")
    try:
        root = _parsed(pattern, engine)
        plain = _plain_text(root)
        if plain is not None:
            return plain in text
        return _AmdMatcher(text).finds(root) if engine is RegexEngine.AMD else _Automaton(root).finds(text)
    except (UnknownAnswerError, RecursionError):
        return None
