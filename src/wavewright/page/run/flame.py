"""Flame graphs of a run: trees merged by call path, one function with callers and callees, one thread over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.flame import WEIGHTS, frames_of, functions_of, sandwich
from wavewright.analysis.run.contents.regions import combine_regions
from wavewright.analysis.run.contents.stacks import partial_stacks
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.schema import packaged_spec
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.protocol.serialize import doubles, serialize
from wavewright.page.run.answers import region_domains, summary_by, whole_tree
from wavewright.page.run.layers import timeline_of
from wavewright.questions.kit.parameters import number, place, text

MOST_FRAMES = 10_000  #: Frames of one answer: the heaviest.
MOST_SPANS = 6_000  #: Spans of one thread or stream: the longest.
_SANDWICH_FRAMES = 2_500  #: Frames of the callers of a function, and as many of its callees.
_LONGEST_NAME = 300  #: Characters.
_EXPORTED_LINES, _EXPORTED_FUNCTIONS = 24, 40  #: Stored in an exported page: the heaviest.
#: Columns of tracks that together name a thread or stream, then columns of a tree that are added up.
_LINE_KEY = ("kind", "process", "thread", "agent", "stream", "queue", "overlap")
_SUMS = ("call_count", "total_ns", "self_ns", "gpu_total_ns", "gpu_ns")

LINES = packaged_spec(__package__, "lines")


def trees_of_run(document: Document) -> list[str]:
    """The available trees: calls of all domains, of each domain, recorded call stacks, kernels by GPU."""
    run, domains = document.run, region_domains(document)
    calls = ["calls", *domains] if len(domains) > 1 else ["calls"] * len(domains)  # a single domain is all calls
    stacks = ["stacks"] if any(part.count("frames") for part in run.parts) else []
    gpus = ["gpus"] if any(part.count("dispatches") for part in run.parts) else []
    return [*calls, *stacks, *gpus]


def _tree(document: Document, name: str) -> pl.DataFrame:
    """The nodes of a tree in depth-first order, in the columns of `analysis.run.contents.regions`."""
    choices = trees_of_run(document)
    if name not in (*choices, "calls"):  # a run without any calls has a tree without nodes
        raise UsageError(f"no tree {name[:40]!r}", advice=f"trees: {', '.join(choices) or 'none'}")
    if name in ("stacks", "gpus"):
        return _stacks(document) if name == "stacks" else _gpus(document)
    return whole_tree(document, "all" if name == "calls" else name).tree


@once_per_document
def _stacks(document: Document) -> pl.DataFrame:
    return combine_regions([partial_stacks(part) for part in document.run.parts]).tree


@once_per_document
def _gpus(document: Document) -> pl.DataFrame:
    """Kernels and copies of `analysis.run.contents.summary` below their GPU."""
    things = summary_by(document, "gpu").things.filter(pl.col("domain").is_in(["KERNEL", "COPY"]))
    has_hosts = things["host"].n_unique() > 1
    host = pl.format("{} ", pl.col("host").fill_null("?")) if has_hosts else pl.lit("")
    gpu = host + pl.when(pl.col("gpu").is_null()).then(pl.lit("GPU not recorded")).otherwise(pl.format("GPU {}", "gpu"))
    rows = things.select(
        gpu=gpu,
        name=pl.col("name").fill_null(""),
        domain="domain",
        call_count=pl.col("calls").cast(pl.Int64),
        total_ns=pl.col("total_ns").fill_null(0).cast(pl.Int64),
    ).sort("gpu", -pl.col("total_ns"), maintain_order=True)
    sums = pl.col("call_count", "total_ns").sum()
    heads = rows.group_by("gpu", maintain_order=True).agg(sums).with_columns(depth=0, name="gpu", domain=pl.lit("GPU"))
    leaves = rows.with_columns(depth=1)
    columns = ["gpu", "depth", "name", "domain", "call_count", "total_ns"]
    # Each GPU (depth 0), then its kernels and copies (depth 1): a node's number is its place in this order.
    both = pl.concat([heads.select(columns), leaves.select(columns)]).sort("gpu", "depth", maintain_order=True)
    nodes = both.with_row_index("node").with_columns(pl.col("node", "depth").cast(pl.Int64))
    is_leaf, head = pl.col("depth") > 0, pl.col("node").first().over("gpu")
    return nodes.with_columns(
        parent=pl.when(is_leaf).then(head).otherwise(-1),
        self_ns=pl.when(is_leaf).then("total_ns").otherwise(0),
        gpu_total_ns="total_ns",
        gpu_ns=pl.when(is_leaf).then("total_ns").otherwise(0),
    ).select("node", "parent", "depth", "name", "domain", *_SUMS)


def _checked(weight: str) -> str:
    if weight not in WEIGHTS:
        raise UsageError(f"no weight {weight[:40]!r}", advice=f"weights: {', '.join(WEIGHTS)}")
    return weight


@once_per_document
def flame_of_run(document: Document, *, tree: str = "calls", weight: str = "host") -> pl.DataFrame:
    """The 10,000 heaviest frames of a tree (`analysis.run.calls.flame`); `node_count` counts all nodes."""
    _checked(weight)
    nodes = _tree(document, tree)
    frames = frames_of(nodes, weight, MOST_FRAMES)
    rows = frames.with_columns(pl.col("name").fill_null("").str.slice(0, _LONGEST_NAME))
    return doubles(rows).with_columns(node_count=pl.lit(nodes.height, pl.UInt32))


@once_per_document
def functions_of_run(document: Document, *, tree: str = "calls") -> Any:
    """All names of a tree with their own time and their total (`analysis.run.calls.flame`)."""
    return {"functions": serialize(functions_of(_tree(document, tree)))}


def sandwich_of_run(
    document: Document, *, name: str, domain: str = "", tree: str = "calls", weight: str = "host"
) -> Any:
    """One function with its callers and callees (`analysis.run.calls.flame`)."""
    nodes = _tree(document, tree)
    if not nodes.filter((pl.col("name") == name) & (pl.col("domain").fill_null("") == domain)).height:
        raise UsageError(f"there is no function {name[:80]!r} in this tree")
    answer = sandwich(nodes, name, domain, _checked(weight), _SANDWICH_FRAMES)
    return serialize(answer, top=MOST_FRAMES)


@once_per_document
def _tracks_of_lines(document: Document) -> pl.DataFrame:
    """The tracks of each line: `line` is its number, the tracks of a thread differ in their depth."""
    tracks = timeline_of(document).tracks.filter(pl.col("kind").is_in(["thread", "stream"]))
    if document.whole:  # the same numbers in a part of the time, where not every line has events
        numbers = _tracks_of_lines(document.whole).select("line", *_LINE_KEY).unique(maintain_order=True)
    else:
        numbers = tracks.select(_LINE_KEY).unique(maintain_order=True).with_row_index("line")
    return tracks.join(numbers, on=list(_LINE_KEY), nulls_equal=True, maintain_order="left")


@once_per_document
def _lines(document: Document) -> pl.DataFrame:
    """The threads and streams of GPUs that can be shown over time (`LINES`)."""
    length = (pl.col("end_ns") - pl.col("start_ns")).sum()
    sums = timeline_of(document).spans.group_by("track").agg(span_count=pl.len(), length=length)
    track_sums = _tracks_of_lines(document).join(sums, on="track", how="left", maintain_order="left")
    lines = track_sums.group_by("line", maintain_order=True).agg(
        pl.col("kind", "group", "part", "label").first(),
        pl.col("span_count").sum(),
        total_ns=pl.col("length").filter(pl.col("depth") == 0).sum(),
    )
    return lines.select(pl.col(name).cast(kind) for name, kind in LINES.dtypes.items())


def lines_of_run(document: Document) -> Any:
    """The threads and streams of GPUs, and the available trees."""
    return {"lines": serialize(_lines(document)), "trees": trees_of_run(document)}


def stacks_of_line(
    document: Document, *, line: int, low: float | None = None, high: float | None = None
) -> pl.DataFrame:
    """The longest events of one thread or stream from `low` to `high` (ns); `span_count` counts all of that time."""
    if line not in _lines(document.whole or document)["line"]:
        raise UsageError(f"there is no thread or stream {line}")
    tracks = _tracks_of_lines(document).filter(pl.col("line") == line)
    timeline = timeline_of(document)
    spans = timeline.spans.join(tracks.select("track", "depth"), on="track", maintain_order="left")
    first = float(spans["start_ns"].min() or 0) if low is None else low  # type: ignore[arg-type]
    last = float(spans["end_ns"].max() or 0) if high is None else high  # type: ignore[arg-type]
    inside = spans.filter((pl.col("start_ns") < last) & (pl.col("end_ns") > first))
    longest = inside.sort(pl.col("start_ns") - pl.col("end_ns"), "depth", maintain_order=True).head(MOST_SPANS)
    names = timeline.kinds.select("kind", "name")
    rows = longest.join(names, on="kind", how="left", maintain_order="left").sort("depth", "start_ns")
    return rows.select(
        pl.col("item"),
        begin=pl.col("start_ns").cast(pl.Float64),
        end=pl.col("end_ns").cast(pl.Float64),
        depth=pl.col("depth").cast(pl.Int32),
        name=pl.col("name").fill_null("").str.slice(0, _LONGEST_NAME),
        span_count=pl.lit(inside.height, pl.UInt32),
        first=pl.lit(first),
        last=pl.lit(last),
    )


def _every_tree(document: Document) -> list[dict[str, str]]:
    return [{"tree": tree, "weight": weight} for tree in trees_of_run(document) for weight in WEIGHTS]


def _every_function_list(document: Document) -> list[dict[str, str]]:
    return [{"tree": tree} for tree in trees_of_run(document)]


def _heaviest(document: Document) -> Iterator[dict[str, str]]:
    for tree in trees_of_run(document)[:1]:
        rows = functions_of(_tree(document, tree)).head(_EXPORTED_FUNCTIONS)
        for name, domain in rows.select(pl.col("name", "domain").fill_null("")).iter_rows():
            yield from ({"name": name, "domain": domain, "tree": tree, "weight": weight} for weight in WEIGHTS)


def _longest(document: Document) -> list[dict[str, int]]:
    longest = _lines(document).sort("total_ns", descending=True)["line"].head(_EXPORTED_LINES)
    return [{"line": line} for line in longest]


_OF_TREE = {"tree": text, "weight": text}
_FUNCTION = {"name": text, "domain": text, **_OF_TREE}
_LINE = {"line": place, "low": number, "high": number}
_BOUNDS = (("low", "high"),)
QUESTIONS = (
    PageQuestion("run_flame", flame_of_run, _OF_TREE, exported=_every_tree, is_of_time=True),
    PageQuestion("run_functions", functions_of_run, {"tree": text}, exported=_every_function_list, is_of_time=True),
    PageQuestion("run_sandwich", sandwich_of_run, _FUNCTION, required=("name",), exported=_heaviest, is_of_time=True),
    PageQuestion("run_lines", lines_of_run, is_of_time=True),
    PageQuestion(
        "run_line_stacks", stacks_of_line, _LINE, required=("line",), exported=_longest, ranges=_BOUNDS, is_of_time=True
    ),
)
