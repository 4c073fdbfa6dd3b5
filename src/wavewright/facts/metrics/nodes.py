"""Nodes of a parsed formula, and properties that do not need values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

ANY_DEGREE = math.nan  #: Of 0, which is an amount as much as a number.


class Leaf(NamedTuple):
    """An input of a formula: a counter, one or more of its channels, or a quantity."""

    text: str  #: Its key among the values of an evaluation.
    counter: str = ""  #: Empty = a quantity, whose name is the text.
    first: int | None = None  #: Channel, or first channel of a sum; -1 = the channel of the row (`[i]`).
    end: int | None = None  #: Of sums: the channel after the last; -1 = all there are.

    @property
    def is_per_row(self) -> bool:
        """Whether it has one value per channel (`[i]`)."""
        return self.first == -1 and self.end is None


class Number(NamedTuple):
    """A number."""

    value: float


class Terms(NamedTuple):
    """A chain of additions and subtractions: (sign, node), in order."""

    terms: tuple[tuple[int, Node], ...]


class Operation(NamedTuple):
    """A product, quotient, largest, smallest or negated value."""

    word: str  #: `*`, `/`, `max`, `min` or `-`
    operands: tuple[Node, ...]


Node = Leaf | Number | Terms | Operation


def is_amount(chain: Terms, constants: frozenset[str]) -> bool:
    """Whether every term of a chain is counted per dispatch, so that its value cannot be negative."""
    return all(degree_of(item, constants) == 1.0 for _, item in chain.terms)


def unparsed(node: Node) -> str:
    """A node as text.

    >>> unparsed(Terms(((1, Leaf("TCC_REQ", "TCC_REQ")), (-1, Leaf("TCC_HIT", "TCC_HIT")))))
    'TCC_REQ - TCC_HIT'
    """
    if isinstance(node, Leaf):
        return node.text
    if isinstance(node, Number):
        return f"{node.value:.15g}"
    if isinstance(node, Terms):
        text = "".join(f" {'-' if sign < 0 else '+'} {_inside(item)}" for sign, item in node.terms)
        return text[3:] if text.startswith(" + ") else "-" + text[3:]
    if node.word in ("max", "min"):
        return f"{node.word}({', '.join(unparsed(item) for item in node.operands)})"
    if node.word == "-":
        return f"-{_inside(node.operands[0])}"
    left, right = node.operands
    closed = f"({unparsed(right)})" if isinstance(right, Operation) and right.word in "*/" else _inside(right)
    return f"{_inside(left)} {node.word} {closed}"


def _inside(node: Node) -> str:
    text = unparsed(node)
    return f"({text})" if isinstance(node, Terms) or (isinstance(node, Operation) and node.word == "-") else text


def degree_of(node: Node, constants: frozenset[str]) -> float | None:
    """Degree of homogeneity, see `Expression.degree`; NaN = any."""
    if isinstance(node, Leaf):
        return 0.0 if node.text in constants else 1.0
    if isinstance(node, Number):
        return ANY_DEGREE if node.value == 0 else 0.0
    parts = [item for _, item in node.terms] if isinstance(node, Terms) else list(node.operands)
    degrees = [degree_of(item, constants) for item in parts]
    known_degrees = [degree for degree in degrees if degree is not None]
    if len(known_degrees) < len(degrees):
        return None
    if isinstance(node, Operation) and node.word in "*/":
        if any(math.isnan(degree) for degree in known_degrees):
            return ANY_DEGREE
        return known_degrees[0] + known_degrees[1] if node.word == "*" else known_degrees[0] - known_degrees[1]
    distinct = {degree for degree in known_degrees if not math.isnan(degree)}
    if not distinct:
        return ANY_DEGREE
    return distinct.pop() if len(distinct) == 1 else None


def leaves_of(node: Node) -> Iterator[Leaf]:
    """The leaves in order, again where they appear again."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Terms):
        for _, item in node.terms:
            yield from leaves_of(item)
    elif isinstance(node, Operation):
        for item in node.operands:
            yield from leaves_of(item)


def divisors_of(node: Node) -> Iterator[Node]:
    """The divisors, one for each division."""
    if isinstance(node, Leaf | Number):
        return
    parts = [item for _, item in node.terms] if isinstance(node, Terms) else list(node.operands)
    for item in parts:
        yield from divisors_of(item)
    if isinstance(node, Operation) and node.word == "/":
        yield node.operands[1]
