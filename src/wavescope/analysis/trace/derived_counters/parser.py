"""The language of derived counters: text -> definitions, or what is wrong and where.

    definition := NAME ":=" or
    or   := and { "|" and }      and  := cmp { "&" cmp }
    cmp  := sum { ("==" | "<" | ">" | "<=" | ">=") sum }
    sum  := prod { ("+" | "-") prod }      prod := prim { ("*" | "/") prim }
    prim := "-" prim | NUMBER | NAME | "(" or ")" | call

`docs/reference/derived-counters.md` describes the calls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from wavescope.analysis.trace.derived_counters.syntax import (
    AXES,
    FUNCTIONS,
    LEVELS,
    REDUCTIONS,
    Call,
    Chain,
    Definition,
    Expression,
    Name,
    Negation,
    Number,
    Place,
    Problem,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 40  #: Nesting of parentheses, calls and signs; far below where Python's own recursion ends.
MAX_TEXT = 1 << 20
_LARGEST = 3.4e38  # of a 32-bit float

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?::\w+)*)"
    r"|(?P<sign>:=|==|<=|>=|[-+*/<>|&(),:=\[\]])",
    re.ASCII,
)


class _MistakeError(Exception):
    """Something that is not in the language; never leaves `parse`."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


class _Token(NamedTuple):
    kind: str
    text: str
    place: Place


def parse(text: str) -> tuple[list[Definition], list[Problem]]:
    """All definitions of a text that can be read, and what is wrong with the other lines.

    Examples
    --------
    >>> definitions, problems = parse("a := 1 + b  # half\\nc := (2")
    >>> definitions[0].name, str(problems[0])
    ('a', '2:8: c: a ) is missing')
    """
    if len(text) > MAX_TEXT:
        return [], [Problem(Place(1, 1), "", f"more than {MAX_TEXT:,} characters of definitions")]
    definitions: dict[str, Definition] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = ""
        try:
            parser = _Parser(list(_tokens(line, number)), Place(number, len(line.split("#")[0].rstrip()) + 1))
            if parser.at_end:
                continue
            name = parser.defined_name()
            definition = parser.definition(name)
            if name in definitions:
                message = f"already defined in line {definitions[name].place.line}"
                raise _MistakeError(definition.place, message)
            definitions[name] = definition
        except _MistakeError as problem:
            problems.append(Problem(problem.place, name, problem.message))
    return list(definitions.values()), problems


def _tokens(line: str, number: int) -> Iterator[_Token]:
    code = line.split("#")[0]
    at = 0
    while at < len(code):
        match = _TOKEN.match(code, at)
        if match is None:
            raise _MistakeError(Place(number, at + 1), f"{code[at]!r} does not belong to the language")
        if match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match.group(), Place(number, at + 1))
        at = match.end()


class _Parser:
    """Recursive descent over the tokens of one line."""

    def __init__(self, tokens: list[_Token], end: Place) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._end = end

    @property
    def at_end(self) -> bool:
        return self._at == len(self._tokens)

    def defined_name(self) -> str:
        token = self._next("a name")
        if token.kind != "name":
            raise _MistakeError(token.place, f"a definition begins with a name, not {token.text!r}")
        if token.text in FUNCTIONS:
            raise _MistakeError(token.place, f"{token.text} is a function and cannot be defined")
        return token.text

    def definition(self, name: str) -> Definition:
        place = self._tokens[0].place
        self._expect(":=", "a name is followed by :=")
        expression = self._chain(0)
        if not self.at_end:
            token = self._tokens[self._at]
            raise _MistakeError(token.place, f"{token.text!r} where an operator or the end of the line is expected")
        return Definition(name, expression, place)

    def _chain(self, level: int) -> Expression:
        if level == len(LEVELS):
            return self._primary()
        first = self._chain(level + 1)
        rest: list[tuple[str, Expression]] = []
        place = self._place()
        while self._peek() in LEVELS[level]:
            operator = self._next("an operator").text
            rest.append((operator, self._chain(level + 1)))
        return Chain(first, tuple(rest), place) if rest else first

    def _primary(self) -> Expression:
        self._depth += 1
        token = self._next("a value")
        if self._depth > MAX_DEPTH:
            raise _MistakeError(token.place, f"nested deeper than {MAX_DEPTH} levels")
        value = self._value_of(token)
        self._depth -= 1
        return value

    def _value_of(self, token: _Token) -> Expression:
        if token.kind == "number":
            if float(token.text) > _LARGEST:
                raise _MistakeError(token.place, "too large for a 32-bit float")
            return Number(float(token.text), token.place)
        if token.text == "-":
            return Negation(self._primary(), token.place)
        if token.text == "(":
            inner = self._chain(0)
            self._expect(")", "a ) is missing")
            return inner
        if token.kind != "name":
            raise _MistakeError(token.place, f"{token.text!r} where a value is expected")
        if token.text in FUNCTIONS:
            return self._call(token)
        return Name(token.text, token.place)

    def _call(self, token: _Token) -> Call:
        name, opening = token.text, self._peek()
        elementwise = name in ("max", "min") and opening == "("
        bracket = "(" if elementwise or name == "linear" else "["
        self._expect(bracket, f"{name} is a function: {name}{bracket}...")
        operands = [self._chain(0)]
        if elementwise:
            while self._peek() == ",":
                self._next(",")
                operands.append(self._chain(0))
            if len(operands) < 2:
                raise _MistakeError(token.place, f"{name}(...) takes at least two values; {name}[...] reduces one")
        elif name in ("select", "remove"):
            operands += self._bounds(name)
        axes = None if elementwise else self._axes(token)
        self._expect(")" if bracket == "(" else "]", f"{name}{bracket} is not closed")
        return Call(f"{name}()" if elementwise else name, tuple(operands), axes, token.place)

    def _bounds(self, name: str) -> list[Expression]:
        self._expect(",", f"{name} takes a value and an index")
        bounds = [self._chain(len(LEVELS))]
        while name == "select" and self._peek() == ":" and len(bounds) < 3:
            self._next(":")
            bounds.append(self._chain(len(LEVELS)))
        return bounds

    def _axes(self, function: _Token) -> tuple[int, ...] | None:
        if self._peek() != ",":
            return None
        self._next(",")
        word = self._next("axis=")
        if word.text != "axis":
            raise _MistakeError(word.place, f"{word.text!r} where axis= is expected")
        self._expect("=", "axis is followed by =")
        if function.text not in REDUCTIONS:
            return (self._axis(single=True),)
        if self._peek() != "[":
            axis = self._axis(single=False)
            return tuple(range(4)) if axis < 0 else (axis,)
        self._next("[")
        axes = [self._axis(single=True)]
        while self._peek() == ",":
            self._next(",")
            axes.append(self._axis(single=True))
        self._expect("]", "the list of axes is not closed")
        return tuple(sorted(set(axes)))

    def _axis(self, *, single: bool) -> int:
        token = self._next("an axis")
        text = token.text
        if text == "-":
            text += self._next("an axis").text
        number = AXES.get(text.upper())
        if text in ("0", "1", "2", "3", "-1"):
            number = int(text)
        if number is None:
            raise _MistakeError(token.place, f"{text!r} is no axis; axes: XCC, SE, CU, TIME, All")
        if single and number < 0:
            raise _MistakeError(token.place, "one axis is needed here, not all of them")
        return number

    def _peek(self) -> str:
        return "" if self.at_end else self._tokens[self._at].text

    def _place(self) -> Place:
        return self._end if self.at_end else self._tokens[self._at].place

    def _next(self, wanted: str) -> _Token:
        if self.at_end:
            raise _MistakeError(self._end, f"the line ends where {wanted} is expected")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str, message: str) -> None:
        if self._peek() != sign:
            raise _MistakeError(self._place(), message)
        self._at += 1
