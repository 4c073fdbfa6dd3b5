"""Values of parsed definitions over the tensors of counters: order of evaluation, operators and functions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from wavewright.analysis.trace.derived_counters.syntax import (
    AXIS_NAMES,
    NEGATION,
    Call,
    Definition,
    Expression,
    MistakeError,
    Name,
    Number,
    SourcePos,
    SyntaxProblem,
)
from wavewright.analysis.trace.derived_counters.tensors import MAX_ELEMENTS, Tensor

MAX_KEPT_ELEMENTS = 1 << 27  #: Values of all definitions together, at most: 512 MiB.
_TIME = 3  #: The axis that a function takes where none is given.
_REDUCTIONS: Final[dict[str, Callable[..., Any]]] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
#: Functions of two tensors, by operator or name.
_ELEMENTWISE: Final[dict[str, np.ufunc]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "==": np.equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "&": np.logical_and,
    "|": np.logical_or,
    "max()": np.maximum,
    "min()": np.minimum,
}


def evaluate(
    definitions: Sequence[Definition], raw: Mapping[str, Tensor], *, wanted: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], list[SyntaxProblem]]:
    """Values of the requested definitions (default: all) and their dependencies, and the problems of the others."""
    by_name = {definition.name: definition for definition in definitions}
    values: dict[str, Tensor] = {}
    failed: dict[str, SyntaxProblem] = {}
    tensors = ChainMap(values, cast("dict[str, Tensor]", raw))
    element_count = 0
    with np.errstate(all="ignore"):  # a division by zero gives inf or nan, as the language says
        for definition in _in_order(by_name, list(by_name) if wanted is None else wanted, failed):
            try:
                _check_names(definition, values, raw, failed)
                value = _value(definition.expression, tensors)
                element_count += value.size
                if element_count > MAX_KEPT_ELEMENTS:
                    raise MistakeError(definition.position, "all definitions together are too large")
                values[definition.name] = value
            except MistakeError as mistake:
                failed[definition.name] = SyntaxProblem(mistake.position, definition.name, mistake.message)
    return values, list(failed.values())


def _in_order(
    by_name: Mapping[str, Definition], starts: Sequence[str], failed: dict[str, SyntaxProblem]
) -> Iterator[Definition]:
    """Definitions in order of dependency; circular ones are noted as failed. No recursion: chains may be long."""
    done: set[str] = set()
    for start in starts:
        if start not in by_name or start in done:
            continue
        path = {start: _names(by_name[start].expression)}  # from the wanted one to the one being looked at
        while path:
            name = next(reversed(path))
            dependency = next(path[name], None)
            if dependency is None:
                path.popitem()
                done.add(name)
                yield by_name[name]
            elif dependency.name in path:
                names = list(path)
                circle = " -> ".join([*names[names.index(dependency.name) :], dependency.name])
                failed.setdefault(
                    name, SyntaxProblem(dependency.position, name, f"the definitions go round in a circle: {circle}")
                )
            elif dependency.name in by_name and dependency.name not in done:
                path[dependency.name] = _names(by_name[dependency.name].expression)


def _names(expression: Expression) -> Iterator[Name]:
    if isinstance(expression, Name):
        yield expression
    elif isinstance(expression, Call):
        for operand in expression.operands:
            yield from _names(operand)


def _check_names(
    definition: Definition, values: Mapping[str, Tensor], raw: Mapping[str, Tensor], failed: Mapping[str, SyntaxProblem]
) -> None:
    if definition.name in failed:
        problem = failed[definition.name]
        raise MistakeError(problem.position, problem.message)
    if definition.name in raw:
        raise MistakeError(definition.position, f"{definition.name} is already the name of a counter or constant")
    for name in _names(definition.expression):
        if name.name in failed:
            raise MistakeError(name.position, f"needs {name.name}, which has no value")
        if name.name not in values and name.name not in raw:
            raise MistakeError(name.position, f"unknown name {name.name}")


def _value(expression: Expression, tensors: Mapping[str, Tensor]) -> Tensor:
    if isinstance(expression, Number):
        return np.full((1, 1, 1, 1), expression.value, dtype=np.float32)
    if isinstance(expression, Name):
        return tensors[expression.name]
    first, *others = (_value(operand, tensors) for operand in expression.operands)
    if expression.kind == NEGATION:
        return -first
    if expression.kind in _ELEMENTWISE:
        for other in others:
            _check_shapes(first, other, expression.position)
            first = _ELEMENTWISE[expression.kind](first, other).astype(np.float32, copy=False)
        return first
    return _called(expression, first, others)


def _check_shapes(left: Tensor, right: Tensor, position: SourcePos) -> None:
    elements = 1
    for axis, name in enumerate(AXIS_NAMES):
        sizes = left.shape[axis], right.shape[axis]
        if sizes[0] != sizes[1] and 1 not in sizes:
            raise MistakeError(
                position, f"axis {name} has {sizes[0]:,} values on one side and {sizes[1]:,} on the other"
            )
        elements *= max(sizes)
    if elements > MAX_ELEMENTS:
        raise MistakeError(position, f"the result would have {elements:,} values")


def _called(call: Call, tensor: Tensor, others: Sequence[Tensor]) -> Tensor:
    """The value of a function with a tensor; `others` are the index or the bounds of `select` and `remove`."""
    if call.kind in _REDUCTIONS:
        along = call.axes if call.axes is not None else (0, 1, 2, 3)
        wide = tensor.astype(np.float64)  # long sums of 32-bit floats would lose their last digits
        reduced: Tensor = _REDUCTIONS[call.kind](wide, axis=along, keepdims=True).astype(np.float32)
        return reduced
    axis = call.axes[0] if call.axes else _TIME
    if call.kind == "linear":
        return _ramp(_integer(tensor, call.position), axis, call.position)
    size = tensor.shape[axis]
    if call.kind == "delta":
        if size < 2:
            raise MistakeError(call.position, f"delta needs at least two values along {AXIS_NAMES[axis]}")
        return np.diff(tensor, axis=axis)
    bounds = [_integer(bound, operand.position) for bound, operand in zip(others, call.operands[1:], strict=True)]
    if call.kind == "select":
        return _selected(tensor, bounds, axis, call)
    if size < 2:
        raise MistakeError(call.position, f"remove would leave nothing along {AXIS_NAMES[axis]}")
    return np.delete(tensor, _inside(bounds[0], size, axis, call), axis=axis)


def _ramp(count: int, axis: int, position: SourcePos) -> Tensor:
    if not 1 <= count <= MAX_ELEMENTS:
        raise MistakeError(position, f"linear(n) needs a number from 1 to {MAX_ELEMENTS:,}")
    shape = [1, 1, 1, 1]
    shape[axis] = count
    return np.arange(count, dtype=np.float32).reshape(shape)


def _selected(tensor: Tensor, bounds: Sequence[int], axis: int, call: Call) -> Tensor:
    """One index (`bounds` has one number), or a range with an end and perhaps a step."""
    size = tensor.shape[axis]
    if len(bounds) == 1:
        start = _inside(bounds[0], size, axis, call)
        chosen = slice(start, start + 1)
    else:
        chosen = slice(*bounds)
        if not 0 <= bounds[0] < bounds[1] <= size:
            where = f"{bounds[0]}:{bounds[1]} does not lie inside 0:{size} of axis {AXIS_NAMES[axis]}"
            raise MistakeError(call.position, where)
        if chosen.step is not None and chosen.step < 1:
            raise MistakeError(call.position, "the step of a range is at least 1")
    return tensor[(*[slice(None)] * axis, chosen)]


def _inside(index: int, size: int, axis: int, call: Call) -> int:
    """An index from the start of an axis; negative ones count from its end."""
    if not -size <= index < size:
        raise MistakeError(call.position, f"index {index} of axis {AXIS_NAMES[axis]}, which has {size:,} values")
    return index % size


def _integer(tensor: Tensor, position: SourcePos) -> int:
    """The integer in a tensor of one value."""
    number = float(tensor.item()) if tensor.size == 1 else float("nan")
    if not abs(number) < 1 << 53 or not number.is_integer():
        raise MistakeError(position, "one integer is needed here")
    return int(number)
