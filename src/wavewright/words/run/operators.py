"""Operators by the shapes of their inputs, for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from wavewright.analysis.run.kernels.operators import Operators
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import declared_table

#: Types as people write them; others without their namespace.
_TYPES: dict[str, str] = packaged("texts.toml", __package__)["number_types"]


def operators_report(answer: Operators, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright operators`."""
    yield headline(_verdict(answer))
    if not answer.operators.height:
        return
    yield GAP
    yield declared_table(
        "run/operators/operators",
        answer.operators,
        limit=limit,
        operator=_name,
        input_shapes=lambda row: _shapes(row["input_dims"]),
        type=lambda row: _type(row["input_types"]),
        rate=lambda row: _rate(row["flops_per_second"]),
        bandwidth=lambda row: _rate(row["bytes_per_second"]),
    )
    if remainder := _remainder(answer):
        yield sentence(remainder)


def _verdict(answer: Operators) -> str:
    if not answer.operator_count:
        return "no operators were recorded; traces of torch.profiler have them"
    if not answer.operators.height:
        return f"{counted(answer.operator_count, 'operators')} launched no GPU work"
    if not answer.operators["input_dims"].count():
        return (
            f"operators launched {duration(answer.gpu_ns)} of GPU time; shapes of inputs were not recorded: "
            "record_shapes=True of torch.profiler does"
        )
    text = f"operators launched {duration(answer.gpu_ns)} of GPU time"
    if not answer.counted_gpu_ns:
        return f"{text}; none of them has a model"
    text += f"; those with a model take {percent(answer.counted_gpu_ns / answer.gpu_ns)} of it"
    if not answer.rated_gpu_ns:
        rate = answer.counted_flops / answer.counted_gpu_ns / 1e3
        return f"{text} and reach {rate:,.1f} TFLOP/s; the peaks of the GPU are not known (--target names it)"
    share = percent(answer.roof_ns / answer.rated_gpu_ns)
    return f"{text}, and at the roof of {answer.gpu} they would take {share} of their time"


def _remainder(answer: Operators) -> str:
    """GPU time that the table does not explain."""
    parts = []
    if answer.unlinked_gpu_ns:
        parts.append(f"{duration(answer.unlinked_gpu_ns)} of GPU time was not launched in an operator")
    without = answer.gpu_ns - answer.counted_gpu_ns
    if without and answer.counted_gpu_ns:
        parts.append(f"{duration(without)} belong to operators without a model")
    return "; ".join(parts)


def _name(row: dict[str, Any]) -> str:
    kind = f" ({row['times']} calls)" if row["times"] else ""
    return f"{brief(row['name'], 200)}{kind}"


def _shapes(dims: str | None) -> str:
    """Shapes of the tensors: `8944x1024, 1024x2816`; equal ones are counted, other inputs left out.

    Examples
    --------
    >>> _shapes("[[16, 64], [16, 64], [], [[8], [8]]]")
    '16x64 (2), [8 (2)]'
    """
    return printable(_joined(_list(dims))) or "-"


def _joined(shapes: list[Any]) -> str:
    texts = [_shape(shape) for shape in shapes if shape]
    groups = [(text, len(list(equal))) for text, equal in groupby(texts)]
    return ", ".join(text if count == 1 else f"{text} ({count})" for text, count in groups)


def _shape(shape: Any) -> str:
    if not isinstance(shape, list):
        return str(shape)
    is_list = any(isinstance(size, list) for size in shape)
    return f"[{_joined(shape)}]" if is_list else "x".join(str(size) for size in shape)


def _type(types: str | None) -> str:
    first = next((kind for kind in _list(types) if isinstance(kind, str) and kind), "")
    return printable(_TYPES.get(first, first.rpartition("::")[2]))


def _rate(per_second: float | None) -> str:
    if not per_second:
        return "-"
    tera = per_second / 1e12
    return f"{tera:,.1f}" if tera >= 10 else f"{tera:.2g}"


def _list(text: str | None) -> list[Any]:
    try:
        values = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []
