"""The notation of formulas: arithmetic over counters and named quantities, parsed once and evaluated over vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from wavewright.errors import UsageError
from wavewright.facts.metrics.nodes import (
    Leaf,
    Node,
    Number,
    Terms,
    degree_of,
    divisors_of,
    is_amount,
    leaves_of,
    unparsed,
)
from wavewright.facts.metrics.syntax import MAX_LENGTH, FormulaError, read_node, syntax_tree, wrong


@dataclass(frozen=True)
class Expression:
    """A parsed formula."""

    text: str
    node: Node
    leaves: tuple[Leaf, ...]  #: Each once, in the order of their first appearance.

    @property
    def counters(self) -> tuple[str, ...]:
        """Counters without channels, each once."""
        return tuple(dict.fromkeys(leaf.counter for leaf in self.leaves if leaf.counter))

    @property
    def quantities(self) -> tuple[str, ...]:
        """Lower-case names, each once."""
        return tuple(leaf.text for leaf in self.leaves if not leaf.counter)

    @property
    def is_per_channel(self) -> bool:
        """Whether it has one value per channel."""
        return any(leaf.is_per_row for leaf in self.leaves)

    def degree(self, constants: frozenset[str]) -> float | None:
        """Degree of homogeneity in what is counted per dispatch; None = not homogeneous.

        0: doubling every amount changes nothing, as in ratios; 1: the value is an amount. `constants` are the
        quantities that do not grow with the work, such as the number of CUs.

        >>> parse("64 * TCC_HIT / cu_count").degree(frozenset({"cu_count"}))
        1.0
        """
        degree = degree_of(self.node, constants)
        return 0.0 if degree is not None and math.isnan(degree) else degree

    def evaluate(
        self,
        values: Mapping[str, Any],
        *,
        zero: str = "blank",
        constants: frozenset[str] | None = None,
        negative: Callable[[str, Any, Any], None] | None = None,
    ) -> Any:
        """Its value over vectors: `values` maps `Leaf.text` to numbers or arrays that broadcast; NaN = not known.

        `zero` says what a division by zero gives; what is too large for a number is not known. With `constants`, as of
        `degree`, differences of amounts are not below 0; `negative` is told what was cut off: the text of the
        difference, its values and its positive part. Raises `KeyError` when `values` lacks a leaf.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            value = _value(self.node, _How(values, zero, constants, negative))
            if zero != "infinity" and np.any(np.isinf(value)):
                value = np.where(np.isinf(value), math.nan, value)
            return value


class _How(NamedTuple):
    """How an expression is evaluated; see `Expression.evaluate`."""

    values: Mapping[str, Any]
    zero: str
    constants: frozenset[str] | None
    negative: Callable[[str, Any, Any], None] | None


def _value(node: Node, how: _How) -> Any:
    if isinstance(node, Leaf):
        return how.values[node.text]
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Terms):
        return _chain(node, how)
    operands = [_value(item, how) for item in node.operands]
    if node.word == "*":
        return operands[0] * operands[1]
    if node.word == "/":
        return _divided(operands[0], operands[1], how.zero)
    if node.word == "-":
        return -operands[0]
    import numpy as np

    total = operands[0]
    for item in operands[1:]:
        total = (np.maximum if node.word == "max" else np.minimum)(total, item)
    return total


def _chain(node: Terms, how: _How) -> Any:
    above: Any = None
    below: Any = None
    for sign, item in node.terms:
        value = _value(item, how)
        if sign > 0:
            above = value if above is None else above + value
        else:
            below = value if below is None else below + value
    if below is None:
        return above
    import numpy as np

    total = above - below
    if how.constants is None or not np.any(total < 0) or not is_amount(node, how.constants):
        return total
    if how.negative is not None:
        how.negative(unparsed(node), total, above)
    return np.maximum(total, 0.0)


def denominators(expression: Expression) -> tuple[Expression, ...]:
    """The denominators of a formula, each once.

    >>> [part.text for part in denominators(parse("100 * TCC_HIT / (TCC_HIT + TCC_MISS)"))]
    ['TCC_HIT + TCC_MISS']
    """
    divisors = dict.fromkeys(divisors_of(expression.node))
    return tuple(Expression(unparsed(node), node, tuple(dict.fromkeys(leaves_of(node)))) for node in divisors)


def _divided(above: Any, below: Any, zero: str) -> Any:
    import numpy as np

    quotient = np.divide(above, below)
    if zero == "infinity" or (below.all() if isinstance(below, np.ndarray) else below):
        return quotient
    return np.where(np.equal(below, 0), math.nan if zero == "blank" else 0.0, quotient)


@lru_cache(maxsize=8192)
def parse(text: str) -> Expression:
    """Parse a formula. Raises `UsageError` when it is not of the notation; the error names the character."""
    if len(text) > MAX_LENGTH:
        message = f"a formula of {len(text):,} characters is too long"
        raise UsageError(message, advice=f"at most {MAX_LENGTH:,}: define names for its parts")
    body = text.strip()
    if not body:
        raise UsageError("the formula is empty")
    try:
        node = read_node(syntax_tree(body), text)
    except FormulaError as error:
        raise wrong(text, error.message, max(error.offset - 1, 0)) from None
    except RecursionError:
        raise wrong(text, "it is nested too deeply", 0) from None
    return Expression(body, node, tuple(dict.fromkeys(leaves_of(node))))
