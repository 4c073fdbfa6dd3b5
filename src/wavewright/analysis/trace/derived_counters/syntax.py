"""Expressions of derived counters: nodes and canonical text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

#: Axis names in capitals -> number; -1 = all.
AXES = {"XCC": 0, "SE": 1, "CU": 2, "WGP": 2, "INSTANCE": 2, "TIME": 3, "SAMPLES": 3, "ALL": -1}
AXIS_NAMES = ("XCC", "SE", "CU", "TIME")
REDUCTIONS = ("sum", "mean", "max", "min")
FUNCTIONS = (*REDUCTIONS, "select", "remove", "delta", "linear")
#: Operators, the loosest first; those of one level are taken from left to right.
LEVELS = (("|",), ("&",), ("==", "<=", ">=", "<", ">"), ("+", "-"), ("*", "/"))


class SourcePos(NamedTuple):
    """Line and column in the definitions, from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class SyntaxProblem:
    """Why a definition has no value."""

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
class Negation:
    """Minus something."""

    operand: Expression
    position: SourcePos = field(compare=False)


@dataclass(frozen=True)
class Chain:
    """Operators of one level: `first`, then operator and operand, from left to right."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    position: SourcePos = field(compare=False)  #: Where the first operator stands.


@dataclass(frozen=True)
class Call:
    """A function: `kind` is its name, followed by `()` for the element-wise max and min."""

    kind: str
    operands: tuple[Expression, ...]  #: What it works on, then (select, remove) the bounds.
    axes: tuple[int, ...] | None  #: None = not given.
    position: SourcePos = field(compare=False)


Expression = Number | Name | Negation | Chain | Call


@dataclass(frozen=True)
class Definition:
    """One line: a name and its expression."""

    name: str
    expression: Expression
    position: SourcePos = field(compare=False)


def to_text(expression: Expression, level: int = 0) -> str:
    """The expression in the language, with as few parentheses as it needs.

    >>> here = SourcePos(1, 1)
    >>> to_text(Chain(Number(2.0, here), (("*", Negation(Name("a", here), here)),), here))
    '2 * -a'
    """
    if isinstance(expression, Number):
        return (
            repr(int(expression.value))
            if expression.value.is_integer() and expression.value < 1e16
            else repr(expression.value)
        )
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, Negation):
        return "-" + to_text(expression.operand, len(LEVELS))
    if isinstance(expression, Call):
        return _call_text(expression)
    chain_level = next(number for number, signs in enumerate(LEVELS) if expression.rest[0][0] in signs)
    parts = [to_text(expression.first, chain_level + 1)]
    parts += [f"{sign} {to_text(operand, chain_level + 1)}" for sign, operand in expression.rest]
    text = " ".join(parts)
    return f"({text})" if chain_level < level else text


def _call_text(call: Call) -> str:
    name = call.kind.removesuffix("()")
    first, *others = call.operands
    if call.kind.endswith("()"):
        inside = ", ".join(map(to_text, call.operands))
    else:
        bounds = ":".join(map(_bound_text, others))
        inside = to_text(first) + (f", {bounds}" if others else "")
    if call.axes is not None:
        names = [AXIS_NAMES[axis] for axis in call.axes]
        inside += f", axis={names[0]}" if len(names) == 1 else f", axis=[{', '.join(names)}]"
    return f"{name}({inside})" if call.kind.endswith("()") or name == "linear" else f"{name}[{inside}]"


def _bound_text(bound: Expression) -> str:
    """An index or bound; `:` belongs to names, so that what is not a number needs parentheses."""
    number = bound.operand if isinstance(bound, Negation) else bound
    return to_text(bound) if isinstance(number, Number) else f"({to_text(bound)})"
