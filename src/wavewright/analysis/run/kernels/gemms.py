"""Speed of operators for the shapes of their inputs: GPU time, operations and bytes per second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.calls.call_trees import Nodes, call_tree
from wavewright.analysis.run.kernels.gemm_formulas import FORMULAS, cost
from wavewright.analysis.run.measures.intervals import share_of
from wavewright.analysis.run.measures.trees import inherited
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.model.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.run import Run

_OPERATOR = "OPERATOR"
_BETWEEN = "\x1f"  #: Between the parts of a label: shapes, types, values, name.
_PARTS = {"input_dims": "Input Dims", "input_types": "Input type", "input_values": "Concrete Inputs"}
_KEYS = ("name", *_PARTS)
_SUMS = ("call_count", "gpu_count", "gpu_ns")
_EMPTY = pl.DataFrame(schema=dict.fromkeys(_KEYS, pl.String) | dict.fromkeys(_SUMS, pl.Int64))


@dataclass(frozen=True)
class Gemms(Answer, package=__package__):
    """Operators by the shapes of their inputs."""

    operators: pl.DataFrame
    gpu_ns: int  #: GPU time that all operators launched.
    counted_gpu_ns: int  #: That of operators whose operations can be counted.
    counted_flops: float  #: Their operations.
    operator_count: int  #: Calls of operators, also of those that launched nothing.
    unlinked_gpu_ns: int  #: GPU time that was not launched in an operator.


@dataclass(frozen=True)
class PartialGemms:
    """The contribution of one run."""

    rows: pl.DataFrame
    operator_count: int
    unlinked_gpu_ns: int


def partial_gemms(run: Run) -> PartialGemms:
    """The contribution of one run."""
    calls = call_tree(run, Nodes(("event_properties",), _is_operator, _label))
    labels = calls.tree.select(label="name").unique()
    texts = labels["label"].cast(pl.String).fill_null("")
    parts = texts.str.splitn(_BETWEEN, len(_PARTS) + 1).struct.rename_fields([*_PARTS, "name"])
    labels = labels.with_columns(parts.struct.unnest().get_columns())
    labels = labels.with_columns(pl.when(pl.col(part) != "").then(part).alias(part) for part in _PARTS)
    costs = [cost(*row) for row in labels.select(_KEYS).iter_rows()]
    is_counted = pl.Series("is_counted", [each is not None for each in costs], dtype=pl.Boolean)
    tree = calls.tree.rename({"name": "label"}).join(
        labels.select("label", is_counted), on="label", how="left", maintain_order="left", nulls_equal=True
    )
    nearest = pl.coalesce(inherited(tree, pl.col("is_counted")), pl.col("node")).alias("node")
    work = tree.select(nearest, "gpu_count", "gpu_ns").filter(pl.col("gpu_count") > 0)
    work = work.group_by("node").agg(pl.all().sum()).join(tree.select("node", "label"), on="node")
    sums = work.group_by("label").agg(pl.col("gpu_count", "gpu_ns").sum(), call_count=pl.len().cast(pl.Int64))
    return PartialGemms(
        rows=sums.join(labels, on="label", nulls_equal=True).select(*_KEYS, *_SUMS),
        operator_count=tree.height,
        unlinked_gpu_ns=calls.unlinked_gpu_ns,
    )


def _is_operator(_: pl.DataFrame) -> pl.Expr:
    return pl.col("domain") == pl.lit(_OPERATOR, pl.Categorical)


def _label(piece: pl.DataFrame) -> pl.Expr:
    """Shapes and types, the values where a formula needs them, and the name, in one text."""
    names = piece["name"].unique().cast(pl.String).drop_nulls()
    formulas = names.filter(names.is_in(list(FORMULAS))).cast(pl.Categorical)
    parts = [pl.col("event_properties").str.json_path_match(f"$['{key}']") for key in _PARTS.values()]
    parts[-1] = pl.when(pl.col("name").is_in(formulas.implode())).then(parts[-1])
    texts = [part.fill_null("") for part in parts]
    label = pl.concat_str([*texts, pl.col("name").cast(pl.String).fill_null("?")], separator=_BETWEEN)
    return pl.when(_is_operator(piece)).then(label).cast(pl.Categorical)


def combine_gemms(partials: Sequence[PartialGemms]) -> Gemms:
    """The combined result of all runs."""
    rows = pl.concat([_EMPTY, *(part.rows.select(_EMPTY.columns) for part in partials)])
    rows = rows.group_by(_KEYS).agg(pl.col(_SUMS).sum())
    costs = [cost(*row) for row in rows.select(_KEYS).iter_rows()]
    rows = rows.with_columns(
        pl.Series("flops", [each and each.flops for each in costs], dtype=pl.Int64),
        pl.Series("moved_bytes", [each and each.bytes for each in costs], dtype=pl.Int64),
    )
    rows = rows.with_columns(
        gpu_share=share_of(pl.col("gpu_ns"), pl.col("gpu_ns").sum()),
        mean_gpu_ns=share_of(pl.col("gpu_ns"), pl.col("call_count")),
        **{
            f"{rate}_per_second": pl.when(pl.col("gpu_ns") > 0).then(
                pl.col(column).cast(pl.Float64) * pl.col("call_count") * 1e9 / pl.col("gpu_ns")
            )
            for rate, column in (("flops", "flops"), ("bytes", "moved_bytes"))
        },
    ).sort("gpu_ns", *_KEYS, descending=[True, *([False] * len(_KEYS))])
    counted = rows.filter(pl.col("flops").is_not_null())
    return Gemms(
        operators=rows.select(Gemms.tables["operators"].names),
        gpu_ns=int(rows["gpu_ns"].sum()),
        counted_gpu_ns=int(counted["gpu_ns"].sum()),
        counted_flops=float((counted["flops"].cast(pl.Float64) * counted["call_count"]).sum()),
        operator_count=sum(part.operator_count for part in partials),
        unlinked_gpu_ns=sum(part.unlinked_gpu_ns for part in partials),
    )


def named_gemms(answer: Gemms, name: str, *, by_calls: bool = False) -> Gemms:
    """The operators whose name contains `name`, or matches `/REGEX/`; sums stay those of all operators.

    Raises
    ------
    UsageError
        When the expression is not one.
    """
    pattern = name_pattern(name)
    names = [text for text in answer.operators["name"].unique() if pattern.search(text)]
    rows = answer.operators.filter(pl.col("name").is_in(names))
    return replace(
        answer, operators=rows.sort("call_count", descending=True, maintain_order=True) if by_calls else rows
    )


def gemms(run: Run) -> Gemms:
    """The operators of a run by the shapes of their inputs."""
    return combine_gemms([partial_gemms(part) for part in run.parts])
