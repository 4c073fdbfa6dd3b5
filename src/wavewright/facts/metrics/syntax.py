"""Parser of formulas: Python's syntax tree, and the part of it that metrics use.

Metrics have numbers, names, channels, + - * /, max, min, mean and sum. Derived counters of traces read their own tree
(`analysis.trace.derived_counters.parser`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from wavewright.errors import UsageError
from wavewright.facts.metrics.names import is_derived
from wavewright.facts.metrics.nodes import Leaf, Node, Number, Operation, Terms

MAX_LENGTH = 4000  #: Characters of a formula.
_MAX_NODES = 1000  #: Far below where the recursion of Python's parser and of the evaluations ends.
_MOST_CHANNELS = 4096
_MOST_INSTANCES = 256  #: Of `max`, `min` and `mean`.
_LARGEST = 1e300  #: Of the numbers in formulas.
_CALLS = ("max", "min", "mean", "sum")


class FormulaError(Exception):
    """A formula that is not Python, or too large."""

    def __init__(self, message: str, offset: int = 1, *, is_too_deep: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset  #: Character, from 1; 0 = past the end.
        self.is_too_deep = is_too_deep


def syntax_tree(text: str) -> ast.expr:
    """Python's syntax tree of an expression. Raises `FormulaError` when it is none, or has too many parts."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"more than {MAX_LENGTH:,} characters", is_too_deep=True)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise FormulaError(error.msg, error.offset or 0, is_too_deep="too many" in error.msg) from None
    except (ValueError, RecursionError, MemoryError):
        message = "it is nested too deeply, or contains characters that no formula has"
        raise FormulaError(message, is_too_deep=True) from None
    # A node takes at least one character.
    if len(text) > _MAX_NODES and sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise FormulaError(f"it has more than {_MAX_NODES:,} parts", is_too_deep=True)
    return tree


def read_node(node: ast.expr, text: str) -> Node:
    """The node that a part of the syntax tree of `text` stands for.

    Raises `UsageError` when it is not of the notation; the error names the character.
    """
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            return Terms(tuple(_terms(node, 1, text)))
        if isinstance(node.op, ast.Mult | ast.Div):
            word = "*" if isinstance(node.op, ast.Mult) else "/"
            return Operation(word, (read_node(node.left, text), read_node(node.right, text)))
        raise wrong(text, "only + - * / and parentheses are known here", node.col_offset)
    if isinstance(node, ast.Constant):
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _LARGEST:
            raise wrong(text, f"{str(value)[:40]} is not a number that a formula can hold", node.col_offset)
        return Number(float(value))
    if isinstance(node, ast.Name):
        return Leaf(node.id, node.id if _is_counter(node, text) else "")
    if isinstance(node, ast.Subscript):
        counter = _indexed(node, text)
        if isinstance(node.slice, ast.Name) and node.slice.id == "i":
            return Leaf(f"{counter}[i]", counter, -1)
        channel = _channel(node.slice, text)
        return Leaf(f"{counter}[{channel}]", counter, channel)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return Operation("-", (read_node(node.operand, text),))
    if isinstance(node, ast.Call):
        return _call(node, text)
    raise wrong(text, "only numbers, counters, quantities, + - * /, max, min, mean and sum are known", node.col_offset)


def _terms(node: ast.expr, sign: int, text: str) -> Iterator[tuple[int, Node]]:
    """The terms of a chain; a chain in parentheses after a sign is one term: it is a difference of its own."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left, sign, text)
        right = 1 if isinstance(node.op, ast.Add) else -1
        yield right, read_node(node.right, text)
    else:
        yield sign, read_node(node, text)


def _call(node: ast.Call, text: str) -> Node:
    word = node.func.id if isinstance(node.func, ast.Name) else ""
    if word not in _CALLS or node.keywords:
        raise wrong(text, f"the functions are {', '.join(_CALLS)}", node.col_offset)
    if word == "sum":
        return _sum_of_channels(node, text)
    channels = _bounded_channels(node, text)
    if channels and word == "mean":
        first, counter = channels[0].first or 0, channels[0].counter
        end = first + len(channels)
        total = Leaf(f"sum({counter}[{first}:{end}])", counter, first, end)
        return Operation("/", (total, Number(float(len(channels)))))
    if channels:
        return Operation(word, channels) if len(channels) > 1 else channels[0]
    if word == "mean":
        raise wrong(text, "mean takes channels, as in mean(TCC_HIT[0:16])", node.col_offset)
    if len(node.args) < 2:
        raise wrong(text, f"{word} takes at least two values, or TCC_HIT[0:16]", node.col_offset)
    return Operation(word, tuple(read_node(item, text) for item in node.args))


def _sum_of_channels(node: ast.Call, text: str) -> Leaf:
    """The sum of `sum(TCC_HIT[0:16])` or `sum(TCC_HIT[:])`, which is one value."""
    channels = _slice_in(node)
    if channels is None:
        raise wrong(text, "sum takes the channels of a counter, as in sum(TCC_HIT[:])", node.col_offset)
    counter = _indexed(channels.subscript, text)
    first = 0 if channels.lower is None else _channel(channels.lower, text)
    end = -1 if channels.upper is None else _channel(channels.upper, text)  # -1 = all there are
    if 0 <= end <= first:
        raise wrong(text, f"no channel is in [{first}:{end}]", node.col_offset)
    bounds = ":" if first == 0 and end == -1 else f"{first}:{'' if end == -1 else end}"
    return Leaf(f"sum({counter}[{bounds}])", counter, first, end)


def _bounded_channels(node: ast.Call, text: str) -> tuple[Leaf, ...]:
    """The channels of `max(TCC_HIT[0:16])`, each a value of its own; empty where the call has another form."""
    channels = _slice_in(node)
    if channels is None:
        return ()
    counter = _indexed(channels.subscript, text)
    first = 0 if channels.lower is None else _channel(channels.lower, text)
    if channels.upper is None:
        raise wrong(text, f"the end is needed, as in {counter}[0:16]", node.col_offset)
    end = _channel(channels.upper, text)
    if not 0 < end - first <= _MOST_INSTANCES:
        raise wrong(text, f"1 to {_MOST_INSTANCES} channels are expected", node.col_offset)
    return tuple(Leaf(f"{counter}[{channel}]", counter, channel) for channel in range(first, end))


class _Slice(NamedTuple):
    """`COUNTER[lower:upper]`; None = that bound is open."""

    subscript: ast.Subscript
    lower: ast.expr | None
    upper: ast.expr | None


def _slice_in(node: ast.Call) -> _Slice | None:
    """The slice that is the only argument of a call; None = it has other arguments."""
    item = node.args[0] if len(node.args) == 1 else None
    if not (isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Slice) and item.slice.step is None):
        return None
    return _Slice(item, item.slice.lower, item.slice.upper)


def _indexed(node: ast.Subscript, text: str) -> str:
    if isinstance(node.value, ast.Name) and _is_counter(node.value, text):
        return node.value.id
    raise wrong(text, "only counters have channels", node.col_offset)


def _channel(node: ast.expr, text: str) -> int:
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int and 0 <= value <= _MOST_CHANNELS:
        return value
    raise wrong(text, f"a channel is i or a number from 0 to {_MOST_CHANNELS:,}", node.col_offset)


def _is_counter(node: ast.Name, text: str) -> bool:
    name = node.id
    if name.isascii() and (name == name.upper() or name == name.lower()) and name not in _CALLS:
        return name == name.upper()
    if is_derived(name):
        return True
    raise wrong(text, f"{name!r:.60}: counters are upper-case, quantities lower-case", node.col_offset)


def wrong(text: str, what: str, offset: int) -> UsageError:
    """The error about a character of a formula."""
    lead = len(text) - len(text.lstrip())
    shown = text if len(text) <= 80 else text[:77] + "..."
    return UsageError(what, where=f"character {lead + offset + 1} of {shown!r}")
