"""Operations that an operator of PyTorch does, and bytes that it has to move, from the shapes of its inputs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 1 << 62  #: Larger results are damage.
#: Bytes of an element, by the name that PyTorch records; of others, the bytes moved are unknown.
TYPE_BYTES: dict[str, int] = {
    "double": 8,
    "float": 4,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float8_e5m2fnuz": 1,
    "long int": 8,
    "int": 4,
    "short int": 2,
    "signed char": 1,
    "unsigned char": 1,
    "bool": 1,
}
_SCALAR_TYPES = {"5": 2, "6": 4, "7": 8, "15": 2}  #: Numbers of PyTorch's types of floating-point numbers -> bytes.


@dataclass(frozen=True)
class Inputs:
    """The recorded inputs of an operator: shapes, types, and values of those that are not tensors."""

    dims: tuple[Any, ...]
    types: tuple[str, ...]
    values: tuple[str, ...]

    def shape(self, number: int, *ranks: int) -> tuple[int, ...]:
        """The shape of an input, which must have one of these numbers of dimensions.

        Raises
        ------
        ValueError
            When it has not.
        """
        shape = self.dims[number] if number < len(self.dims) else ()
        if not isinstance(shape, list) or (ranks and len(shape) not in ranks):
            raise ValueError
        if not all(isinstance(size, int) and 0 <= size < _MOST for size in shape):
            raise ValueError
        return tuple(shape)

    def element_bytes(self, number: int) -> int | None:
        """Bytes of an element of an input; None = unknown."""
        return TYPE_BYTES.get(self.types[number]) if number < len(self.types) else None

    def value(self, number: int) -> str:
        """The value of an input that is not a tensor; empty = not recorded."""
        return self.values[number] if number < len(self.values) else ""

    def numbers(self, number: int) -> tuple[int, ...]:
        """The values of a list of numbers."""
        values = json.loads(self.value(number))
        if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
            raise ValueError
        return tuple(values)


@dataclass(frozen=True)
class Cost:
    """Work of one call: floating-point operations, and bytes that are read and written at least."""

    flops: int
    bytes: int | None


def _cost(flops: int, *moved: tuple[int, int | None]) -> Cost:
    sizes = [elements * size for elements, size in moved if size is not None]
    return Cost(flops, sum(sizes) if len(sizes) == len(moved) else None)


def _matrices(inputs: Inputs, first: int, *, rank: int, has_bias: bool) -> Cost:
    """A product of matrices, or of batches of them, `first` and the next input; a bias, if any, comes before them."""
    a, b = inputs.shape(first, rank), inputs.shape(first + 1, rank)
    batch, (m, k), n = prod(a[:-2]), a[-2:], b[-1]
    if b[-2] != k or prod(b[:-2]) != batch:
        raise ValueError
    size = inputs.element_bytes(first)
    moved = [(batch * m * k, size), (batch * k * n, inputs.element_bytes(first + 1)), (batch * m * n, size)]
    if has_bias:
        moved.append((prod(inputs.shape(0)), inputs.element_bytes(0)))
    return _cost(2 * batch * m * n * k + (batch * m * n if has_bias else 0), *moved)


def _linear(inputs: Inputs) -> Cost:
    a, weight = inputs.shape(0), inputs.shape(1, 2)
    if not a or a[-1] != weight[1]:
        raise ValueError
    m, (n, k), size = prod(a[:-1]), weight, inputs.element_bytes(0)
    bias = prod(inputs.shape(2)) if inputs.element_bytes(2) else 0
    moved = [(m * k, size), (n * k, inputs.element_bytes(1)), (m * n, size)]
    moved += [(bias, inputs.element_bytes(2))] if bias else []
    return _cost(2 * m * n * k + (m * n if bias else 0), *moved)


def _scaled_mm(inputs: Inputs) -> Cost:
    """Matrices of 8 bits with scales; the type of the result is its seventh input."""
    (m, k), (rows, n) = inputs.shape(0, 2), inputs.shape(1, 2)
    if rows != k:
        raise ValueError
    sizes = (inputs.element_bytes(0), inputs.element_bytes(1), _SCALAR_TYPES.get(inputs.value(6)))
    return _cost(2 * m * n * k, (m * k, sizes[0]), (k * n, sizes[1]), (m * n, sizes[2]))


def _attention(inputs: Inputs, *, causal: int, is_heads_last: bool = False) -> Cost:
    """Scaled dot products of queries with keys, and of the weights with values; half of them where it is causal."""
    shapes = [inputs.shape(number, 4) for number in range(3)]
    if is_heads_last:  # batch, length, heads, size
        shapes = [(a, c, b, d) for a, b, c, d in shapes]
    (batch, heads, queries, d_qk), key, value = shapes
    keys, d_v = key[2], value[3]
    pairs = 2 * queries * keys
    if inputs.value(causal) == "True":
        pairs = queries * queries if queries <= keys else keys * keys + 2 * (queries - keys) * keys
    size = inputs.element_bytes(0)
    moved = [prod(shape) for shape in shapes] + [batch * heads * queries * d_v]
    return _cost(batch * heads * pairs * (d_qk + d_v), *((elements, size) for elements in moved))


def _convolved(inputs: Inputs, first: int, parameters: int) -> tuple[int, tuple[tuple[int, int | None], ...]]:
    """Operations of a convolution, and the elements of input, weights and output."""
    data, weight = inputs.shape(first, 3, 4, 5), inputs.shape(first + 1, 3, 4, 5)
    strides, padding, dilation = (inputs.numbers(parameters + number) for number in range(3))
    is_transposed, groups = inputs.value(parameters + 3) == "True", int(inputs.value(parameters + 5) or "1")
    sizes, kernel = data[2:], weight[2:]
    count = len(sizes)
    if is_transposed or groups < 1 or any(len(values) not in (1, count) for values in (strides, padding, dilation)):
        raise ValueError
    strides, padding, dilation = (values * (count // len(values)) for values in (strides, padding, dilation))
    output = [
        (size + 2 * pad - spread * (taps - 1) - 1) // stride + 1
        for size, taps, stride, pad, spread in zip(sizes, kernel, strides, padding, dilation, strict=True)
    ]
    if min(output) < 0:
        raise ValueError
    results = data[0] * weight[0] * prod(output)
    size = inputs.element_bytes(first)
    moved = ((prod(data), size), (prod(weight), inputs.element_bytes(first + 1)), (results, size))
    return 2 * results * weight[1] * prod(kernel), moved


def _convolution(inputs: Inputs) -> Cost:
    flops, moved = _convolved(inputs, 0, 3)
    return _cost(flops, *moved)


def _convolution_backward(inputs: Inputs) -> Cost:
    """Gradients of the input and of the weights, as its last input says which."""
    flops, (data, weight, output) = _convolved(inputs, 1, 4)
    output_mask = json.loads(inputs.value(10).lower())
    if not isinstance(output_mask, list) or len(output_mask) < 2:
        raise ValueError
    moved = []
    for is_wanted, other in zip(output_mask, (weight, data), strict=False):
        moved += [output, other, weight if other is data else data] if is_wanted else []
    return _cost(flops * sum(map(bool, output_mask[:2])), *moved)


#: Operator -> what it costs. Operators that only call one of these are not here: the innermost counts.
FORMULAS: dict[str, Callable[[Inputs], Cost]] = {
    "aten::mm": lambda inputs: _matrices(inputs, 0, rank=2, has_bias=False),
    "aten::addmm": lambda inputs: _matrices(inputs, 1, rank=2, has_bias=True),
    "aten::bmm": lambda inputs: _matrices(inputs, 0, rank=3, has_bias=False),
    "aten::baddbmm": lambda inputs: _matrices(inputs, 1, rank=3, has_bias=True),
    "aten::linear": _linear,
    "aten::_scaled_mm": _scaled_mm,
    "aten::convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
    "aten::_scaled_dot_product_flash_attention": lambda inputs: _attention(inputs, causal=4),
    "aten::_scaled_dot_product_efficient_attention": lambda inputs: _attention(inputs, causal=6),
    "aten::_scaled_dot_product_cudnn_attention": lambda inputs: _attention(inputs, causal=6),
    "flash_attn::_flash_attn_forward": lambda inputs: _attention(inputs, causal=5, is_heads_last=True),
}


def cost(name: str, dims: str | None, types: str | None, values: str | None) -> Cost | None:
    """Cost of a call of an operator with these inputs (JSON, as recorded); None = not known.

    Examples
    --------
    >>> cost("aten::mm", "[[8, 4], [4, 2]]", '["float", "float"]', None)
    Cost(flops=128, bytes=224)
    """
    formula = FORMULAS.get(name)
    if formula is None:
        return None
    try:
        inputs = Inputs(_list(dims), tuple(map(str, _list(types))), tuple(map(str, _list(values))))
        if any("complex" in kind for kind in inputs.types):
            return None
        result = formula(inputs)
    except (ValueError, TypeError, IndexError, ArithmeticError, RecursionError):
        return None
    return result if 0 < result.flops < _MOST and (result.bytes or 0) < _MOST else None


def _list(text: str | None) -> tuple[Any, ...]:
    values = json.loads(text) if text else []
    return tuple(values) if isinstance(values, list) else ()
