"""Expressions of derived counters: nodes and canonical text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

#: Axis names in capitals -> number; -1 = all.
AXES = {"XCC": 0, "SE": 1, "CU": 2, "WGP": 2, "INSTANCE": 2, "TIME": 3, "SAMPLES": 3, "ALL": -1}
AXIS_NAMES = ("XCC", "SE", "CU", "TIME")  #: By number.
REDUCTIONS = ("sum", "mean", "max", "min")  #: Functions that take the values along axes together.
FUNCTIONS = (*REDUCTIONS, "select", "remove", "delta", "linear")
NEGATION = "-x"  #: Kind of a call: the minus sign before one operand.
#: Operators, the loosest first; those of one level are taken from left to right.
_LEVELS = (("|",), ("&",), ("==", "<=", ">=", "<", ">"), ("+", "-"), ("*", "/"))
LEVEL_OF = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}


class SourcePos(NamedTuple):
    """Line and column in the definitions, from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class SyntaxProblem:
    """The reason why a definition has no value, and its place."""

    position: SourcePos
    name: str  #: The definition; empty when its name could not be read.
    message: str

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{self.position.line}:{self.position.column}: {name}{self.message}"


class MistakeError(Exception):
    """Something that cannot be read, or has no value; it becomes a `SyntaxProblem` of its definition."""

    def __init__(self, position: SourcePos, message: str) -> None:
        super().__init__(message)
        self.position = position
        self.message = message


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float
    position: SourcePos = field(compare=False)


@dataclass(frozen=True)
class Name:
    """A counter, a constant or another definition."""

    name: str
    position: SourcePos = field(compare=False)


@dataclass(frozen=True)
class Call:
    """An operator or a function with its operands."""

    kind: str  #: An operator, `NEGATION`, or the name of a function, followed by `()` for the element-wise max and min.
    operands: tuple[Expression, ...]  #: Of select and remove: the value, then the index or the bounds.
    axes: tuple[int, ...] | None  #: None = not given.
    position: SourcePos = field(compare=False)  #: Of the operator, or of the function's name.


Expression = Number | Name | Call


@dataclass(frozen=True)
class Definition:
    """One line: a name and its expression."""

    name: str
    expression: Expression
    position: SourcePos = field(compare=False)


def to_text(expression: Expression, level: int = 0) -> str:
    """The expression in the language, with as few parentheses as it needs inside an operator of a level."""
    if isinstance(expression, Number):
        value = expression.value
        return repr(int(value) if value.is_integer() and value < 1e16 else value)
    if isinstance(expression, Name):
        return expression.name
    if expression.kind == NEGATION:
        return "-" + to_text(expression.operands[0], len(_LEVELS))
    if expression.kind not in LEVEL_OF:
        return _function_text(expression)
    own_level = LEVEL_OF[expression.kind]
    left, right = expression.operands
    text = f"{to_text(left, own_level)} {expression.kind} {to_text(right, own_level + 1)}"
    return f"({text})" if own_level < level else text


def _function_text(call: Call) -> str:
    name = call.kind.removesuffix("()")
    first, *bounds = call.operands
    if call.kind.endswith("()"):
        return f"{name}({', '.join(map(to_text, call.operands))})"
    inside = to_text(first) + (f", {':'.join(map(_bound_text, bounds))}" if bounds else "")
    if call.axes is not None:
        names = [AXIS_NAMES[axis] for axis in call.axes]
        inside += f", axis={names[0]}" if len(names) == 1 else f", axis=[{', '.join(names)}]"
    return f"{name}({inside})" if name == "linear" else f"{name}[{inside}]"


def _bound_text(bound: Expression) -> str:
    """An index or bound; `:` belongs to names, so that what is not a number needs parentheses."""
    number = bound.operands[0] if isinstance(bound, Call) and bound.kind == NEGATION else bound
    return to_text(bound) if isinstance(number, Number) else f"({to_text(bound)})"
