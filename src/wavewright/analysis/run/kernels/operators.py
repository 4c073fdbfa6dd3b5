"""Operators by the shapes of their inputs: GPU time, operations and bytes per second, and the time at the roof.

A label of every call (name, shapes, types, what a model needs) makes it one node of the call tree; models of operators
(`facts/metrics/operators.toml`) say what a call with this label computes and moves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.calls.call_trees import Nodes, call_tree, gpu_times
from wavewright.analysis.run.kernels.inner_records import InnerRecords
from wavewright.analysis.run.kernels.step_sums import StepSums
from wavewright.analysis.run.measures.trees import inherited
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.errors import UsageError
from wavewright.facts.gpus import facts as gpus
from wavewright.facts.gpus.facts import Arch
from wavewright.facts.metrics.operators import Cost, OperatorModel, cost, model_of
from wavewright.model.answer import Answer
from wavewright.model.run import Run

_OPERATOR = "OPERATOR"
_BETWEEN = "\x1f"  #: Between the parts of a label: shapes, types, values, step, name.
#: Parts of a label -> the property of the call that they are; empty = of none.
_PARTS = {"input_dims": "Input Dims", "input_types": "Input type", "input_values": "Concrete Inputs"}
_PARTS |= {"step": "", "inside": ""}
_KEYS = ("name", "input_dims", "input_types", "input_values", "times", "model", "assumes")
_SUMS = ("call_count", "gpu_count", "gpu_ns", "host_count", "host_ns")
_ENDS = ("", "_max")  #: Of sums that are known between two bounds: at least, at most.
_TOTALS = tuple(
    f"{name}{end}" for end in _ENDS for name in ("flops_total", "bytes_total", "compute_ns", "memory_ns", "roof_ns")
)
_EMPTY = pl.DataFrame(
    schema=dict.fromkeys(_KEYS, pl.String) | dict.fromkeys(_SUMS, pl.Int64) | dict.fromkeys(_TOTALS, pl.Float64)
)
#: What is known of a label by its model.
_COSTS = (
    dict.fromkeys(("is_counted", "is_outer", "is_of_step"), pl.Boolean)
    | dict.fromkeys(("model", "assumes"), pl.String)
    | dict.fromkeys(_TOTALS, pl.Float64)
)
#: Calls of equal shapes are of two kinds where their times fall into two groups so far apart, each so narrow:
#: attention with a window in every second layer records the same shapes.
_RATIO_MIN, _WIDTH_MAX, _CALLS_MIN = 1.5, 0.1, 3
#: A shorter time at the roof says nothing: the start and the end of a kernel take about as long.
_SMALL_NS = 2_000
#: Major and minor version as HIP tells them -> target, where only one has this version.
_TARGETS = {(9, 4): "gfx942", (9, 5): "gfx950"}


@dataclass(frozen=True, eq=False)
class Operators(Answer, package=__package__):
    """Operators by the shapes of their inputs."""

    operators: pl.DataFrame
    gpu_ns: int  #: GPU time that all operators launched.
    counted_gpu_ns: int  #: That of operators with a model.
    counted_flops: float  #: Their operations, at least.
    rated_gpu_ns: int  #: GPU time of operators whose time at the roof is known.
    roof_ns: float  #: That time, at least.
    roof_ns_max: float  #: At most; differs where models give intervals.
    gpu: str  #: The GPU whose peaks are the roof; empty = not known here.
    operator_count: int  #: Calls of operators, also of those that launched nothing.
    unlinked_gpu_ns: int  #: GPU time that was not launched in an operator.


@dataclass(frozen=True, eq=False, repr=False)
class PartialOperators:
    """The contribution of one run."""

    rows: pl.DataFrame  #: The columns of `_EMPTY`.
    gpu: str
    operator_count: int
    unlinked_gpu_ns: int


def partial_operators(
    run: Run, *, models: tuple[OperatorModel, ...] = (), target: str | None = None
) -> PartialOperators:
    """The contribution of one run; `models` are those of the user, `target` is its GPU if that was not recorded."""
    gpu, gpu_name = _gpu(run, target)
    if not has_operators(run, "regions", "graph_calls"):
        return PartialOperators(_EMPTY, gpu_name, 0, int(gpu_times(run)["length"].sum()))
    steps = StepSums(run)
    label = partial(_label, run=run, steps=steps, of_graphs=steps.of_graphs(run), models=models)
    calls = call_tree(run, Nodes(("event_properties",), _is_operator, label))
    labels = calls.tree.select(label="name").unique()
    texts = labels["label"].cast(pl.String).fill_null("")
    parts = texts.str.splitn(_BETWEEN, len(_PARTS) + 1).struct.rename_fields([*_PARTS, "name"])
    labels = labels.with_columns(parts.struct.unnest().get_columns())
    labels = labels.with_columns(pl.when(pl.col(part) != "").then(part).alias(part) for part in _PARTS)
    labels = _with_costs(labels, gpu, models)
    tree = calls.tree.rename({"name": "label"}).join(
        labels.select("label", "is_counted", "is_outer", "is_of_step"),
        on="label",
        how="left",
        maintain_order="left",
        nulls_equal=True,
    )
    # What runs inside a product, a convolution or attention is part of it, also where it has a model of its own.
    owners = [inherited(tree, pl.col(name)) for name in ("is_outer", "is_counted")]
    nearest = pl.coalesce(*owners, pl.col("node")).alias("node")
    work = tree.select(nearest, "gpu_count", "gpu_ns").filter(pl.col("gpu_count") > 0)
    nodes = tree.select("node", "label", "is_of_step", "call_count", "replayed_count", "total_ns")
    work = work.group_by("node").agg(pl.all().sum()).join(nodes, on="node")
    is_own = pl.col("replayed_count") == 0
    work = work.with_columns(
        host_count=pl.when(is_own).then("call_count").otherwise(0),
        host_ns=pl.when(is_own).then("total_ns").otherwise(0),
    )
    sums = _by_times(work).group_by("label", "times").agg(pl.col(_SUMS).sum())
    rows = sums.join(labels, on="label", nulls_equal=True)
    # Of two kinds of calls only the slower can be all that is counted.
    rows_at_roof = pl.when(pl.col("times").is_null() | (pl.col("times") != "shorter"))
    totals = [rows_at_roof.then(pl.col(name) * pl.col("call_count")).alias(name) for name in _TOTALS]
    return PartialOperators(
        rows=rows.with_columns(totals).select(_EMPTY.columns).cast(_EMPTY.schema),
        gpu=gpu_name,
        operator_count=tree.height,
        unlinked_gpu_ns=calls.unlinked_gpu_ns,
    )


def has_operators(run: Run, *tables: str) -> bool:
    """True if operators of a framework are among the regions, or the calls that a graph captured."""
    pieces = (piece for table in tables for piece in run.chunks(table, ["domain"]))
    return any((piece["domain"].cast(pl.String) == _OPERATOR).any() for piece in pieces)


def _is_operator(_: pl.DataFrame) -> pl.Expr:
    return pl.col("domain").cast(pl.String) == _OPERATOR


def _label(
    piece: pl.DataFrame, run: Run, steps: StepSums, of_graphs: dict[int, str], models: tuple[OperatorModel, ...]
) -> pl.Expr:
    """Shapes and types, and where a model needs them values, the step and what is inside; and the name: one text."""
    model_by_name = {name: model_of(name, models) for name in piece["name"].unique().cast(pl.String).drop_nulls()}

    def is_in(names: list[str]) -> pl.Expr:
        return pl.col("name").is_in(pl.Series(names, dtype=pl.String).cast(pl.Categorical).implode())

    with_model = {name: model for name, model in model_by_name.items() if model}
    with_values = [name for name, model in with_model.items() if model.values or model.causal >= 0 or model.convolution]
    of_step = [name for name, model in with_model.items() if model.is_of_step]
    parts = [pl.col("event_properties").str.json_path_match(f"$['{key}']") for key in _PARTS.values() if key]
    parts[-1] = pl.when(is_in(with_values)).then(parts[-1])
    with_records = {name: model for name, model in with_model.items() if model.inside or model.tiles}
    none = pl.repeat(None, piece.height, dtype=pl.String, eager=True)
    if "graph_call" in piece.columns:
        inside = InnerRecords(run, with_records).of_graphs if with_records else {}
        number = piece["graph_call"].cast(pl.Int64)
        around, inner = (
            number.replace_strict(texts or {-1: ""}, default=None, return_dtype=pl.String)
            for texts in (of_graphs, inside)
        )
    else:
        around = steps.around(piece) if of_step else none
        inner = InnerRecords(run, with_records).around(piece) if with_records else none
    parts += [pl.when(is_in(of_step)).then(pl.lit(around)), pl.when(is_in(list(with_records))).then(pl.lit(inner))]
    texts = [part.fill_null("") for part in parts]
    label = pl.concat_str([*texts, pl.col("name").cast(pl.String).fill_null("?")], separator=_BETWEEN)
    return pl.when(_is_operator(piece)).then(label).cast(pl.Categorical)


def _gpu(run: Run, target: str | None) -> tuple[Arch | None, str]:
    """Facts about the GPU of a run, and how to call it; None = several kinds, or not known here."""
    if target is not None:
        arch = gpus.of(target)
        return arch, arch.product.name
    agents = run.read("agents", ["kind", "product", "target", "cu_count", "properties"])
    kinds = {row[1:] if not row[1] else (row[1],) for row in agents.filter(pl.col("kind") == "GPU").rows()}
    if len(kinds) != 1:
        return None, ""
    product, *others = kinds.pop()
    if not product:
        return _by_properties(*others)
    try:
        arch = gpus.of(product)
    except UsageError:
        return None, ""
    return arch, arch.product.name


def _by_properties(target: str | None, cu_count: int | None, properties: str | None) -> tuple[Arch | None, str]:
    """A GPU without a name: the first product of its target that has as many compute units."""
    try:
        device = json.loads(properties or "{}")
        version = (device.get("computeMajor"), device.get("computeMinor"))
        arch = gpus.of(target or _TARGETS[version])
        product = next(product for product in arch.products if product.cu_count == cu_count)
    except (ValueError, AttributeError, KeyError, TypeError, StopIteration, UsageError):
        return None, ""
    return gpus.of(product.name), f"{product.name} by its {cu_count} CUs"


def _with_costs(labels: pl.DataFrame, gpu: Arch | None, models: tuple[OperatorModel, ...]) -> pl.DataFrame:
    """The labels with what a call of each computes and moves, and how long that takes at the roof."""
    rows = []
    for name, dims, types, values, step, inside in labels.select("name", *_PARTS).iter_rows():
        model = model_of(name or "", models)
        step_sums, records = json.loads(step) if step else None, json.loads(inside or "{}")
        per_call = cost(name, dims, types, values, step_sums, models, records)
        is_outer = per_call is not None and bool(model and model.types and not model.is_inner)
        of_cost = (per_call.model, per_call.assumes or None) if per_call else (None, None)
        is_of_step = bool(model and model.is_of_step)
        rows.append((per_call is not None, is_outer, is_of_step, *of_cost, *_at_roof(per_call, gpu)))
    return labels.hstack(pl.DataFrame(rows, schema=_COSTS, orient="row"))


def _at_roof(per_call: Cost | None, gpu: Arch | None) -> list[float | None]:
    """`_TOTALS` of a call: its work, the time of the matrix unit, of memory, and the longer one; None = not known."""
    if per_call is None:
        return [None] * len(_TOTALS)
    memory_rate = gpu.product.memory_bytes_per_second_peak if gpu else None
    rate = _rate(per_call.unit, gpu) if gpu else None
    sums: list[float | None] = []
    for flops, moved in ((per_call.flops, per_call.bytes), (per_call.flops_max, per_call.bytes_max)):
        sums += [flops, moved]
        if flops is None or moved is None or not memory_rate or (per_call.unit and not rate):
            sums += [None] * 3
            continue
        times_ns = flops / rate * 1e9 if per_call.unit and rate else 0.0, moved / memory_rate * 1e9
        sums += [*times_ns, max(times_ns)]
    return sums


def _rate(unit: str, gpu: Arch) -> float | None:
    """Operations per second of the matrix unit for a type; where it has none for it, of the next wider one."""
    cu_count, clock = gpu.product.cu_count, gpu.product.clock_hz_max
    wider = {"mfma_f6f4": "mfma_f8", "mfma_f8": "mfma_bf16", "mfma_bf16": "mfma_f32", "mfma_f16": "mfma_f32"}
    while unit and unit not in gpu.rates:
        unit = wider.get(unit, "")
    return gpu.rates[unit] * cu_count * clock if unit and cu_count and clock else None


def _by_times(work: pl.DataFrame) -> pl.DataFrame:
    """The calls with `times`: shorter or longer, where calls of equal shapes are of two kinds."""
    is_of_step = pl.col("is_of_step").fill_null(value=False)
    one_kind = pl.lit(None, pl.String)
    parts = [work.filter(~is_of_step).with_columns(times=one_kind)]
    for calls in work.filter(is_of_step).partition_by("label"):
        mean = calls["gpu_ns"] / calls["call_count"]
        border = _border(sorted(mean.to_list()))
        kind = one_kind
        if border is not None:
            kind = pl.when(mean < border).then(pl.lit("shorter")).otherwise(pl.lit("longer"))
        parts.append(calls.with_columns(times=kind))
    return pl.concat(parts)


def _border(times: list[float]) -> float | None:
    """The time between two groups of calls; None = they are one."""
    ratios = [(after / before if before else 0.0, place) for place, (before, after) in enumerate(pairwise(times), 1)]
    if not ratios:
        return None
    ratio, place = max(ratios)
    groups = (times[:place], times[place:])
    are_enough = all(len(group) >= _CALLS_MIN for group in groups)
    are_narrow = all(group[-1] - group[0] <= _WIDTH_MAX * sum(group) / len(group) for group in groups)
    return times[place] if ratio >= _RATIO_MIN and are_enough and are_narrow else None


def combine_operators(partials: Sequence[PartialOperators]) -> Operators:
    """The combined result of all runs."""
    rows = pl.concat([_EMPTY, *(part.rows for part in partials)])
    totals = [pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in _TOTALS]
    rows = rows.group_by(_KEYS).agg(pl.col(_SUMS).sum(), *totals)
    per_call = {"flops": "flops_total", "moved_bytes": "bytes_total"}
    seconds = {"flops_per_second": "flops_total", "bytes_per_second": "bytes_total"}
    small_ns = _SMALL_NS * pl.col("call_count")
    limit, limit_max = (
        pl.when(pl.col(f"roof_ns{end}") < small_ns).then(pl.lit("size"))
        .when(pl.col(f"compute_ns{end}") >= pl.col(f"memory_ns{end}")).then(pl.lit("computation"))
        .otherwise(pl.lit("memory"))
        for end in _ENDS
    )  # fmt: skip
    is_interval = pl.any_horizontal(pl.col(total) < pl.col(f"{total}_max") for total in per_call.values())
    is_timed = pl.col("gpu_ns") > 0

    def mean(total: str) -> pl.Expr:
        return (pl.col(total) / pl.col("call_count")).round().cast(pl.Int64)

    rows = rows.with_columns(
        gpu_share=share_of(pl.col("gpu_ns"), pl.col("gpu_ns").sum()),
        mean_gpu_ns=share_of(pl.col("gpu_ns"), pl.col("call_count")),
        mean_host_ns=share_of(pl.col("host_ns"), pl.col("host_count")),
        roof_share=pl.when(is_timed).then(pl.col("roof_ns") / pl.col("gpu_ns")),
        roof_share_max=pl.when(is_interval, is_timed).then(pl.col("roof_ns_max") / pl.col("gpu_ns")),
        limit=pl.when(pl.col("roof_ns").is_not_null(), limit == limit_max).then(limit),
        **{f"{name}_max": pl.when(is_interval).then(mean(f"{total}_max")) for name, total in per_call.items()},
        **{name: mean(total) for name, total in per_call.items()},
        **{name: pl.when(is_timed).then(pl.col(of) * 1e9 / pl.col("gpu_ns")) for name, of in seconds.items()},
    ).sort("gpu_ns", *_KEYS, descending=[True, *([False] * len(_KEYS))])
    rows_with_model = rows.filter(pl.col("flops").is_not_null())
    rows_at_roof = rows.filter(pl.col("roof_ns").is_not_null())
    names = {part.gpu for part in partials}
    return Operators(
        operators=rows.select(Operators.tables["operators"].names),
        gpu_ns=int(rows["gpu_ns"].sum()),
        counted_gpu_ns=int(rows_with_model["gpu_ns"].sum()),
        counted_flops=float(rows_with_model["flops_total"].sum()),
        rated_gpu_ns=int(rows_at_roof["gpu_ns"].sum()),
        roof_ns=float(rows_at_roof["roof_ns"].sum()),
        roof_ns_max=float(rows_at_roof["roof_ns_max"].sum()),
        gpu=names.pop() if len(names) == 1 else "",
        operator_count=sum(part.operator_count for part in partials),
        unlinked_gpu_ns=sum(part.unlinked_gpu_ns for part in partials),
    )


def named_operators(answer: Operators, name: str) -> Operators:
    """The operators whose name contains `name`, or matches `/REGEX/`; sums stay those of all operators.

    Raises `UsageError` when the expression is not one.
    """
    pattern = name_pattern(name)
    names = [text for text in answer.operators["name"].unique() if pattern.search(text)]
    return replace(answer, operators=answer.operators.filter(pl.col("name").is_in(names)))


def operators(run: Run) -> Operators:
    """The operators of a run by the shapes of their inputs."""
    return combine_operators([partial_operators(part) for part in run.parts])
