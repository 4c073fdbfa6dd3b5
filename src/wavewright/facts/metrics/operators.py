"""Models of operators: what a call computes and moves, from the recorded inputs; users can add their own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, prod
from pathlib import Path
from typing import Any

from msgspec import field

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError
from wavewright.facts.loader import FactTable, UserFact, decoded
from wavewright.facts.metrics.expression import parse

_ADVICE = "each model is a table of its name; see docs/reference/operators.md"
_MOST = 1 << 62  #: Larger results are damage.
#: Bytes of an element, by the name that PyTorch records; of others, the bytes moved are unknown. Two values of
#: Float4 lie in one element.
TYPE_BYTES: dict[str, int] = {
    "double": 8,
    "float": 4,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float8_e5m2fnuz": 1,
    "c10::Float8_e8m0fnu": 1,
    "c10::Float4_e2m1fn_x2": 1,
    "long int": 8,
    "long": 8,
    "int": 4,
    "short int": 2,
    "signed char": 1,
    "unsigned char": 1,
    "bool": 1,
}
_SCALAR_TYPES = {"5": 2, "6": 4, "7": 8, "15": 2}  #: Numbers of PyTorch's types of floating-point numbers -> bytes.
#: Types by how wide they are for a matrix unit, narrow first, and the rate of the unit for each.
_UNITS = {"Float4": "mfma_f6f4", "Float8": "mfma_f8", "char": "mfma_i8", "BFloat16": "mfma_bf16", "Half": "mfma_f16"}
_UNITS |= {"float": "mfma_f32", "double": "mfma_f64"}


class OperatorModel(UserFact, frozen=True):
    """One model; the keys are explained in `operators.toml`."""

    name: str
    operators: tuple[str, ...]
    flops: str
    bytes: str
    shapes: dict[str, str] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    types: tuple[int, ...] = ()
    causal: int = -1
    convolution: tuple[int, ...] = ()
    is_of_step: bool = False
    is_inner: bool = False
    is_broadcast: bool = False
    assumes: str = ""

    @property
    def pattern(self) -> str:
        """One expression that fits the names of all its operators."""
        return "|".join(f"(?:{each})" for each in self.operators)


MODELS = FactTable("metrics/operators.toml", OperatorModel)


@dataclass(frozen=True)
class Cost:
    """Work of one call: operations, bytes that are moved at least, the rate of the matrix unit, and the model."""

    flops: int
    bytes: int | None
    unit: str  #: Name of a rate in the facts of GPUs; empty = no matrix product.
    model: str
    assumes: str


def own_models(paths: Sequence[str | Path]) -> tuple[OperatorModel, ...]:
    """The models of files of the user.

    Raises
    ------
    UsageError
        For a file that cannot be read and for every mistake in it.
    """
    models = []
    for path in paths:
        for name, row in read_toml(Path(path), advice=_ADVICE).items():
            place = f"{path}, {name}"
            row_of_file = {"name": name, **row} if isinstance(row, dict) else row
            model = decoded(row_of_file, OperatorModel, where=place, advice=_ADVICE)
            for formula in (model.flops, model.bytes):
                parse(formula)
            for pattern in model.operators:
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
) -> Cost | None:
    """Cost of a call of an operator with these inputs (JSON, as recorded), in a step of serving; None = not known.

    Examples
    --------
    >>> cost("aten::mm", "[[8, 4], [4, 2]]", '["float", "float"]', None).flops
    128
    """
    model = model_of(name, user_models)
    if model is None:
        return None
    try:
        inputs = _Inputs(_list(dims), tuple(map(str, _list(types))), tuple(map(str, _list(values))))
        names = _quantities(model, inputs) | dict(step or {})
        flops = _number(model.flops, names)
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError):
        return None
    try:
        moved_bytes = _number(model.bytes, names)
    except (KeyError, ValueError):
        moved_bytes = None
    if (
        flops is None
        or (not flops and (model.types or not moved_bytes))
        or any("complex" in kind for kind in inputs.types)
    ):
        return None
    return Cost(flops, moved_bytes, _unit(inputs, model.types), model.name, model.assumes)


def _number(formula: str, names: Mapping[str, float]) -> int | None:
    value = float(parse(formula).evaluate({name: float(number) for name, number in names.items()}))
    return round(value) if isfinite(value) and 0 <= value < _MOST else None


def _list(text: str | None) -> tuple[Any, ...]:
    values = json.loads(text) if text else []
    return tuple(values) if isinstance(values, list) else ()


@dataclass(frozen=True)
class _Inputs:
    """The recorded inputs of an operator: shapes, types, and values of those that are not tensors."""

    dims: tuple[Any, ...]
    types: tuple[str, ...]
    values: tuple[str, ...]

    def shape(self, number: int) -> tuple[int, ...]:
        """The shape of an input."""
        shape = self.dims[number] if number < len(self.dims) else []
        if not isinstance(shape, list) or not all(isinstance(size, int) and 0 <= size < _MOST for size in shape):
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
    names: dict[str, float] = {}
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
            names |= {"e_out": _SCALAR_TYPES[text]} if text in _SCALAR_TYPES else {}
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
    first, *lists, transposition, groups = places
    data, weight = inputs.shape(first), inputs.shape(first + 1)
    strides, padding, dilation = (inputs.numbers(place) for place in lists)
    count = len(data) - 2
    if len(weight) != len(data) or not 1 <= count <= 3 or inputs.value(transposition) == "True":
        raise ValueError
    if int(inputs.value(groups) or "1") < 1 or any(
        len(each) not in (1, count) for each in (strides, padding, dilation)
    ):
        raise ValueError
    strides, padding, dilation = (values * (count // len(values)) for values in (strides, padding, dilation))
    sizes = [
        (size + 2 * pad - spread * (taps - 1) - 1) // stride + 1
        for size, taps, stride, pad, spread in zip(data[2:], weight[2:], strides, padding, dilation, strict=True)
    ]
    if min(sizes) < 0:
        raise ValueError
    mask = json.loads(inputs.value(groups + 1).lower() or "[]") if first else []
    gradients = sum(map(bool, mask[:2]))
    return {"out": data[0] * weight[0] * prod(sizes), "taps": prod(weight[1:]), "gradients": gradients}


def _unit(inputs: _Inputs, places: tuple[int, ...]) -> str:
    """The rate of the matrix unit that multiplies these inputs: that of the wider type."""
    ranks = []
    for place in places:
        kind = inputs.types[place] if place < len(inputs.types) else ""
        ranks += [rank for rank, word in enumerate(_UNITS) if word in kind][:1]
    return list(_UNITS.values())[max(ranks)] if ranks else ""
