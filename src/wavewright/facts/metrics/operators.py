"""Models of operators: what a call computes and moves, from the recorded inputs; users can add their own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import isfinite, prod
from pathlib import Path
from typing import Any

from msgspec import field

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError
from wavewright.facts.loader import FactTable, UserFact, decoded, packaged
from wavewright.facts.metrics.expression import parse

_ADVICE = "each model is a table of its name; see docs/reference/operators.md"
_RESULT_MAX = 1 << 62  #: Larger results are damage.
#: Bytes of an element, by the name that PyTorch records; of others, the bytes moved are unknown.
TYPE_BYTES: dict[str, int] = packaged("metrics/element_bytes.toml")
_TYPES = packaged("metrics/operator_types.toml")


class OperatorModel(UserFact, frozen=True):
    """One model; `operators.toml` explains the keys in full, with the names that formulas may use."""

    name: str
    operators: tuple[str, ...]  #: Patterns of the names of operators.
    flops: str  #: Formula of the operations of a call.
    bytes: str  #: Formula of the bytes that are read and written at least.
    shapes: dict[str, str] = field(default_factory=dict)  #: Input -> names of the lengths of its dimensions.
    values: dict[str, int] = field(default_factory=dict)  #: Name -> input whose recorded number it is.
    constants: dict[str, float] = field(default_factory=dict)
    types: tuple[int, ...] = ()  #: Inputs that the matrix unit multiplies; empty = the vector unit works.
    causal: int = -1  #: Input that says whether the mask is causal; -1 = there is no mask.
    convolution: tuple[int, ...] = ()  #: Inputs of a convolution, as `_convolution` takes them.
    between: dict[str, tuple[str, str]] = field(default_factory=dict)  #: Name -> formulas of its least and its most.
    inside: dict[str, tuple[str, int]] = field(default_factory=dict)  #: Name -> operator in the call, and its input.
    tiles: dict[str, str] = field(default_factory=dict)  #: Name of a width -> pattern of the kernel that tells it.
    is_of_step: bool = False  #: Whether numbers of tokens of a serving step are needed.
    is_inner: bool = False  #: Whether it counts only where no other product is around it.
    is_broadcast: bool = False  #: Whether `out` is the number of elements of both inputs, broadcast.
    assumes: str = ""  #: What is not recorded; empty = nothing.

    @property
    def pattern(self) -> str:
        """One expression that fits the names of all its operators."""
        return "|".join(f"(?:{pattern})" for pattern in self.operators)


MODELS = FactTable("metrics/operators.toml", OperatorModel)


@dataclass(frozen=True)
class Cost:
    """Work of one call: operations and bytes at least and at most, the rate of the matrix unit, and the model."""

    flops: int
    flops_max: int
    bytes: int | None
    bytes_max: int | None
    unit: str  #: Name of a rate in the facts of GPUs; empty = no matrix product.
    model: str
    assumes: str


def own_models(paths: Sequence[str | Path]) -> tuple[OperatorModel, ...]:
    """The models of files of the user. Raises `UsageError` for an unreadable file and for every mistake in a file."""
    models = []
    for path in paths:
        for name, row in read_toml(Path(path), advice=_ADVICE).items():
            place = f"{path}, {name}"
            row_of_file = {"name": name, **row} if isinstance(row, dict) else row
            model = decoded(row_of_file, OperatorModel, where=place, advice=_ADVICE)
            for formula in (model.flops, model.bytes, *chain(*model.between.values())):
                parse(formula)
            for pattern in (*model.operators, *model.tiles.values()):
                _checked(pattern, place)
            models.append(model)
    return tuple(models)


def _checked(pattern: str, place: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{pattern[:80]!r} cannot be read as an expression ({error})", where=place) from None


def model_of(name: str, user_models: tuple[OperatorModel, ...] = ()) -> OperatorModel | None:
    """The model of an operator; those of the user come first."""
    user_model = next((model for model in user_models if re.fullmatch(model.pattern, name)), None)
    return user_model or _packaged_model(name)


@lru_cache(maxsize=1 << 14)
def _packaged_model(name: str) -> OperatorModel | None:
    return next((model for model in MODELS.values() if re.fullmatch(model.pattern, name)), None)


def cost(
    name: str,
    dims: str | None,
    types: str | None,
    values: str | None,
    step: Mapping[str, float] | None = None,
    user_models: tuple[OperatorModel, ...] = (),
    inside: Mapping[str, Any] | None = None,
) -> Cost | None:
    """Cost of a call of an operator with these inputs (JSON, as recorded), in a step of serving; None = not known.

    `inside` is what was recorded in the call, by name in `inside` and `tiles` of its model: values, kernels with
    their workgroups.
    """
    model = model_of(name, user_models)
    if model is None:
        return None
    try:
        inputs = _Inputs(_list(dims), tuple(map(str, _list(types))), tuple(map(str, _list(values))))
        names = _quantities(model, inputs) | dict(step or {})
        bounds = _bounds(model, names, inside or {})
        flops, flops_max = (_number(model.flops, values) for values in bounds)
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError):
        return None  # the inputs are not those of the model, or a formula lacks one
    try:
        moved_bytes, moved_bytes_max = (_number(model.bytes, values) for values in bounds)
    except (KeyError, ValueError):  # an element type of unknown size
        moved_bytes = moved_bytes_max = None
    is_complex = any("complex" in kind for kind in inputs.types)
    is_nothing = not flops and (model.types or not moved_bytes)
    if flops is None or flops_max is None or is_nothing or is_complex:
        return None
    return Cost(flops, flops_max, moved_bytes, moved_bytes_max, _unit(inputs, model.types), model.name, model.assumes)


def _bounds(
    model: OperatorModel, names: dict[str, float], inside: Mapping[str, Any]
) -> tuple[dict[str, float], dict[str, float]]:
    """The names with the least and with the most that they can be; bounds of one name may use those before it."""
    names |= {name: float(inside[name]) for name in model.inside}
    least, most = names, dict(names)
    for name, pattern in model.tiles.items():
        rows, experts = names["t"] * names["topk"], names["e"]  # each token goes to `topk` experts
        low, high, names[f"e{name}"] = _width(pattern, *inside[name], rows=rows, experts=experts)
        if name not in names:
            least[name], most[name] = low, high
        elif not low <= names[name] <= high:
            raise ValueError  # the kernel is another than the shapes say
        most[f"e{name}"] = names[f"e{name}"]
    for name, (lowest, highest) in model.between.items():
        bounds = float(parse(lowest).evaluate(least)), float(parse(highest).evaluate(most))
        least[name], most[name] = bounds
    return least, most


def _width(pattern: str, kernel: str, workgroups: int, *, rows: float, experts: float) -> tuple[int, int, float]:
    """Least and most columns of a product of experts by the tiles of its kernel, and bytes of an element of its weight.

    Rows of different experts are in different tiles, and there are as many tiles as the worst division needs: so
    `RoutingData.n_blocks` of triton_kernels, which `matmul_ogs` multiplies with the tiles of a row and the split.
    """
    match = re.fullmatch(pattern, kernel)
    if match is None:
        raise ValueError
    height, width, split = (int(match[group]) for group in ("m", "n", "split"))
    down = int(rows if rows <= experts else -((experts - 1 - rows) // height) + experts - 1)
    across, remainder = divmod(workgroups, max(down * split, 1))
    if remainder or not across:  # the grid is another: workgroups that take several tiles
        raise ValueError
    sizes: dict[str, float] = _TYPES["weight_bytes"]
    weight = next((size for word, size in sizes.items() if match["w"].startswith(word)), math.nan)
    return (across - 1) * width + 1, across * width, weight


def _number(formula: str, names: Mapping[str, float]) -> int | None:
    value = float(parse(formula).evaluate({name: float(number) for name, number in names.items()}))
    return round(value) if isfinite(value) and 0 <= value < _RESULT_MAX else None


def _list(text: str | None) -> tuple[Any, ...]:
    values = json.loads(text) if text else []
    return tuple(values) if isinstance(values, list) else ()


@dataclass(frozen=True)
class _Inputs:
    """The recorded inputs of an operator: shapes, types, and values of those that are not tensors.

    `ValueError` = the operator was recorded in another form than its model says; then its cost is not known.
    """

    dims: tuple[Any, ...]
    types: tuple[str, ...]
    values: tuple[str, ...]

    def shape(self, number: int) -> tuple[int, ...]:
        """The shape of an input."""
        shape = self.dims[number] if number < len(self.dims) else []
        if not isinstance(shape, list) or not all(isinstance(size, int) and 0 <= size < _RESULT_MAX for size in shape):
            raise ValueError
        return tuple(shape)

    def value(self, number: int) -> str:
        """The value of an input that is not a tensor; empty = not recorded."""
        return self.values[number] if 0 <= number < len(self.values) else ""

    def numbers(self, number: int) -> tuple[int, ...]:
        """The values of a list of numbers."""
        values = json.loads(self.value(number))
        if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
            raise ValueError
        return tuple(values)


def _quantities(model: OperatorModel, inputs: _Inputs) -> dict[str, float]:
    """The names that formulas have, with their values."""
    names = dict(model.constants)
    for number in range(max(len(inputs.dims), _inputs_of(model))):
        try:
            shape = inputs.shape(number)
        except ValueError:
            continue
        size = TYPE_BYTES.get(inputs.types[number] if number < len(inputs.types) else "")
        names |= {f"has{number}": 1 if shape else 0, f"n{number}": prod(shape) if shape else 0}
        if not shape:
            names[f"b{number}"] = 0
        elif size is not None:
            names |= {f"b{number}": prod(shape) * size, f"e{number}": size}
    for place, pattern in model.shapes.items():
        _bind(names, pattern.split(), inputs.shape(int(place)))
    for name, number in model.values.items():
        text = inputs.value(number)
        if name == "out":
            names |= {"e_out": _TYPES["scalar_bytes"][text]} if text in _TYPES["scalar_bytes"] else {}
        else:
            names[name] = float(text)
    if model.is_broadcast:
        names["out"] = prod(_broadcast(inputs.shape(0), inputs.shape(1)))
    if model.causal >= 0:
        names["pairs"] = _pairs(int(names["nq"]), int(names["nk"]), is_causal=inputs.value(model.causal) == "True")
    return names | (_convolution(inputs, model.convolution) if model.convolution else {})


def _inputs_of(model: OperatorModel) -> int:
    """One more than the largest input that its formulas name."""
    return max([int(n) + 1 for n in re.findall(r"\b(?:b|n|e|has)(\d)\b", f"{model.flops} {model.bytes}")], default=0)


def _bind(names: dict[str, float], words: list[str], shape: tuple[int, ...]) -> None:
    """The lengths of dimensions by name; a name that is there already must have the same length."""
    if words[0].endswith("*"):
        if len(shape) < len(words) - 1 or not shape:
            raise ValueError
        split = len(shape) - len(words) + 1
        words, shape = [words[0][:-1], *words[1:]], (prod(shape[:split]), *shape[split:])
    if len(words) != len(shape):
        raise ValueError
    for word, length in zip(words, shape, strict=True):
        if names.setdefault(word, length) != length:
            raise ValueError


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    length = max(len(a), len(b))
    a, b = ((1,) * (length - len(shape)) + shape for shape in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        raise ValueError
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def _pairs(queries: int, keys: int, *, is_causal: bool) -> int:
    """Pairs of a query and a key that it attends to; with a causal mask the last query attends to all keys."""
    if not is_causal:
        return queries * keys
    if queries <= keys:
        return queries * keys - queries * (queries - 1) // 2
    return keys * (keys + 1) // 2


def _convolution(inputs: _Inputs, places: tuple[int, ...]) -> dict[str, float]:
    """`out` elements, `taps` per element, and `gradients` that are asked for."""
    first, *lists, transposition, groups = places  # lists: strides, padding, dilation
    data, weight = inputs.shape(first), inputs.shape(first + 1)
    strides, padding, dilation = (inputs.numbers(place) for place in lists)
    count = len(data) - 2
    if len(weight) != len(data) or not 1 <= count <= 3 or inputs.value(transposition) == "True":
        raise ValueError
    has_other_lengths = any(len(numbers) not in (1, count) for numbers in (strides, padding, dilation))
    if int(inputs.value(groups) or "1") < 1 or has_other_lengths:
        raise ValueError
    strides, padding, dilation = (values * (count // len(values)) for values in (strides, padding, dilation))
    sizes = [
        (size + 2 * pad - spread * (taps - 1) - 1) // stride + 1
        for size, taps, stride, pad, spread in zip(data[2:], weight[2:], strides, padding, dilation, strict=True)
    ]
    if min(sizes) < 0:
        raise ValueError
    # Of the backward pass, whose first input is another, the mask of gradients is behind the groups.
    mask = json.loads(inputs.value(groups + 1).lower() or "[]") if first else []
    gradients = sum(map(bool, mask[:2]))
    return {"out": data[0] * weight[0] * prod(sizes), "taps": prod(weight[1:]), "gradients": gradients}


def _unit(inputs: _Inputs, places: tuple[int, ...]) -> str:
    """The rate of the matrix unit that multiplies these inputs: that of the wider type."""
    rates: dict[str, str] = _TYPES["unit_rates"]
    ranks = []
    for place in places:
        kind = inputs.types[place] if place < len(inputs.types) else ""
        ranks += [rank for rank, word in enumerate(rates) if word in kind][:1]
    return list(rates.values())[max(ranks)] if ranks else ""
