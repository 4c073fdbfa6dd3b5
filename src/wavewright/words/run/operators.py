"""Operators by the shapes of their inputs, for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import polars as pl

from wavewright.analysis.run.kernels.operators import Operators
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, percents
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Preformatted, headline, sentence
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import table_below

_EXPERTS = r"(?i)(^|[^a-z])(f?moe|(fused_)?experts?)([^a-z]|$)"
_UNLINKED = 0.01  #: The verdict names all GPU time, too, if no operator launched more than this share of it.
_APART = 1.05  #: Both bounds of a rate are shown if one is at least this many times the other.
_LARGE = 0.05  #: A model is worth declaring for an operator with at least this share of the operators' GPU time.
_EXPERT_MODEL = """\
["experts"]
operators = ['{name}']
shapes = {{ {dims} }}
constants = {{ {count}topk = 0, inner = 0, size = 0 }}
between = {{ used = ["min(e, topk)", "min(e, t*topk)"] }}
flops = "6*t*topk*h*inner"
bytes = "2*b0 + 3*used*h*inner*size"
types = [0]"""
#: Types as people write them; others without their namespace.
_TYPES: dict[str, str] = packaged("texts.toml", __package__)["number_types"]


def operators_report(answer: Operators, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright operators`."""
    yield headline(_verdict(answer))
    if not answer.operators.height:
        return
    yield from table_below(
        "run/operators/operators",
        answer.operators,
        limit=limit,
        operator=_name,
        input_shapes=lambda row: _shapes(row["input_dims"]),
        type=lambda row: _type(row["input_types"]),
        rate=lambda row: _rates(row, "flops", "flops_per_second"),
        bandwidth=lambda row: _rates(row, "moved_bytes", "bytes_per_second"),
        roof=lambda row: percents(row["roof_share"], row["roof_share_max"]),
    )
    if remainder := _remainder(answer):
        yield sentence(remainder)
    yield from _declaration(answer)


def _verdict(answer: Operators) -> str:
    if not answer.operator_count:
        return "no operators were recorded; traces of torch.profiler have them"
    if not answer.operators.height:
        return f"{counted(answer.operator_count, 'operators')} launched no GPU work"
    total_ns = answer.gpu_ns + answer.unlinked_gpu_ns
    of_all = f" of the {duration(total_ns)}" if answer.unlinked_gpu_ns > _UNLINKED * total_ns else ""
    text = f"operators launched {duration(answer.gpu_ns)}{of_all} of GPU time"
    if not answer.operators["input_dims"].count():
        return f"{text}; shapes of inputs were not recorded: record_shapes=True of torch.profiler does"
    if not answer.counted_gpu_ns:
        return f"{text}; none of them has a model"
    text += f"; those with a model take {percent(answer.counted_gpu_ns / answer.gpu_ns)} of it"
    if not answer.rated_gpu_ns:
        rate = answer.counted_flops / answer.counted_gpu_ns / 1e3
        return f"{text} and reach {rate:,.1f} TFLOP/s; the peaks of the GPU are not known (--target names it)"
    share = percents(answer.roof_ns / answer.rated_gpu_ns, answer.roof_ns_max / answer.rated_gpu_ns)
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


def _declaration(answer: Operators) -> Iterator[AnyBlock]:
    """A model to fill in for the experts that take most of the time without one: sizes of weights are not recorded."""
    rows = answer.operators.filter(
        pl.col("flops").is_null() & pl.col("name").str.contains(_EXPERTS) & (pl.col("gpu_share") >= _LARGE)
    )
    for row in rows.head(1).iter_rows(named=True):
        shapes = _list(row["input_dims"])
        if not shapes or not isinstance(shapes[0], list) or len(shapes[0]) != 2:
            return
        name = printable(row["name"])
        # the second input is what the router gives: for each token (t), a number for each expert (e)
        is_routed = len(shapes) > 1 and isinstance(shapes[1], list) and len(shapes[1]) == 2
        dims, count = (
            ('0 = "t h", 1 = "t e"', "") if is_routed and shapes[1][0] == shapes[0][0] else ('0 = "t h"', "e = 0, ")
        )
        yield GAP
        yield sentence(
            f"weights of experts in {name} were not recorded: fill in how many a token takes, how wide they are "
            "inside and bytes of a weight, and pass the file with --models"
        )
        yield Preformatted(_EXPERT_MODEL.format(name=name.replace("'", ""), dims=dims, count=count))


def _name(row: dict[str, Any]) -> str:
    kind = f" ({row['times']} calls)" if row["times"] else ""
    return f"{brief(row['name'], 200)}{kind}"


def _shapes(dims: str | None) -> str:
    """Shapes of the tensors: `8944x1024, 1024x2816`; equal ones are counted, other inputs left out.

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


def _rates(row: dict[str, Any], amount: str, per_second: str) -> str:
    """A rate; both bounds where they are well apart. `amount` and `per_second` are names of columns."""
    least, most = row[amount], row[f"{amount}_max"]
    ends = [row[per_second]] if not least or not most or most < _APART * least else [row[per_second] * most / least]
    return " to ".join([_rate(row[per_second])] + [_rate(end) for end in ends if end != row[per_second]])


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
