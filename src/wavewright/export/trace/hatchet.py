"""Thread traces as call trees of Hatchet: functions, their source lines, and the instructions of each line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.packages import require
from wavewright.model.trace import ThreadTrace

if TYPE_CHECKING:
    import hatchet  # type: ignore[import-untyped,import-not-found,unused-ignore]

_METRICS = ("cycles", "stall_cycles", "count")


def to_hatchet(trace: ThreadTrace) -> hatchet.GraphFrame:
    """The instructions of a thread trace as a `hatchet.GraphFrame`.

    Below a function are its source lines, where debug lines tell them, and below these the instructions, called by
    their text; `type` is function, line or instruction, `address` that of the instruction. Metrics are sums over the
    traced waves: `cycles` from the issue of an instruction to its end, `stall_cycles` of them stalled, `count` of
    executions; with ` (inc)` of all below. Raises `MissingToolError` when hatchet is not installed.
    """
    require("hatchet", "hatchet")
    roots: dict[str, dict[str, Any]] = {}
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for function, line, text, address, *sums in _rows(trace).iter_rows():
        above = roots.setdefault(function, _node(function, "function"))
        if line:
            if (function, line) not in lines:
                lines[function, line] = _node(line, "line")
                above["children"].append(lines[function, line])
            above = lines[function, line]
        leaf = _node(text, "instruction", address)
        leaf["metrics"].update(zip(_METRICS, sums, strict=True))
        above["children"].append(leaf)
    for root in roots.values():
        _add_up(root)
    graphs = import_module("hatchet")  # which has no types
    graph = graphs.GraphFrame.from_literal(list(roots.values()))
    graph.dataframe["type"] = [node.frame["type"] for node in graph.dataframe.index]
    return graph


def _rows(trace: ThreadTrace) -> pl.DataFrame:
    """Function, line, text, address and sums of every executed instruction, by address."""
    sums = trace.instructions.group_by("row").agg(
        cycles=pl.col("duration_cycles").cast(pl.Int64).sum(),
        stall_cycles=pl.col("stall_cycles").cast(pl.Int64).sum(),
        count=pl.len().cast(pl.Int64),
    )
    line = pl.when(pl.col("line").is_not_null()).then(pl.concat_str(pl.col("file").fill_null("?"), pl.lit(":"), "line"))
    function = pl.when(pl.col("function").fill_null("") != "").then("function").otherwise(pl.lit("(no function known)"))
    rows = trace.code.join(sums, on="row", how="inner").sort("code_object", "address")
    known = rows.select(function.alias("function"), line.fill_null("").alias("line"), "text", "address", *_METRICS)
    unknown = sums.join(trace.code, on="row", how="anti").select(
        function=pl.lit("(no code known)"), line=pl.lit(""), text=pl.lit("(unknown)"), address=pl.lit(None, pl.UInt64),
        **{name: pl.col(name) for name in _METRICS},
    )  # fmt: skip
    return pl.concat([known, unknown])


def _node(name: str, kind: str, address: int | None = None) -> dict[str, Any]:
    """A node without children; two instructions of the same text differ by their address."""
    frame = {"name": name, "type": kind} | ({} if address is None else {"address": address})
    return {"frame": frame, "metrics": dict.fromkeys(_METRICS, 0), "children": []}


def _add_up(node: dict[str, Any]) -> None:
    """Add the inclusive metrics of a node and of all nodes below it."""
    for child in node["children"]:
        _add_up(child)
    metrics = node["metrics"]
    for name in _METRICS:
        metrics[f"{name} (inc)"] = metrics[name] + sum(child["metrics"][f"{name} (inc)"] for child in node["children"])
