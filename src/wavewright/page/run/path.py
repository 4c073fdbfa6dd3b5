"""The critical path of a run for the page: tables, segments on the timeline, slack, and the effect of changes."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import polars as pl

from wavewright.analysis.run.diagnose.bounds import bounds_of
from wavewright.analysis.run.graph.event_graph import EventGraph, event_graph
from wavewright.analysis.run.graph.path import CriticalPath, path_of, with_steps
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.analysis.run.steps import steps
from wavewright.model.document import Document
from wavewright.model.schema import TableSpec, packaged_spec
from wavewright.page.protocol.question import TILE_OF_LAYER, PageQuestion, once_per_document
from wavewright.page.protocol.serialize import serialize
from wavewright.page.run.layers import check_layer, tile_window, tiles_of_run, timeline_of
from wavewright.page.run.times import clocks_of
from wavewright.questions.kit.parameters import text
from wavewright.words.run.path import path_evidence

MOST_SEGMENTS = 500  #: Segments of an answer: the longest.
_TABLE_OF = {"kernel": "dispatches", "communication": "dispatches", "copy": "copies"}
_MOST_RANKS, _MOST_KERNELS = 16, 5  #: Whose changes an exported page stores.

SEGMENTS = packaged_spec(__package__, "segments")
STEPS = packaged_spec(__package__, "steps")
PREDICTIONS = packaged_spec(__package__, "predictions")


@once_per_document
def _graph(document: Document) -> EventGraph:
    return event_graph(document.run)


@once_per_document
def _path(document: Document) -> CriticalPath:
    graph = _graph(document)
    return with_steps(path_of(graph), graph, steps(document.run).steps)


def _node_starts(document: Document) -> pl.Series:
    """For each process the start of its node, in the time of the graph."""
    starts = clocks_of(document).processes["start_ns"].fill_null(0)
    return starts + _graph(document).processes["offset_ns"]


@once_per_document
def _items(document: Document) -> pl.Series:
    """The item on the timeline of each event of the graph."""
    shifts = []
    for table in ("dispatches", "copies", "regions"):
        counts = [part.count(table) for part in document.run.parts]
        firsts = accumulate(counts[:-1], initial=timeline_of(document).first_items[table])
        shifts += [(part, table, first) for part, first in enumerate(firsts)]
    schema = {"part": pl.UInt32, "table": pl.String, "shift": pl.Int64}
    table_of_kind = pl.col("kind").cast(pl.String).replace_strict(_TABLE_OF, default="regions")
    rows = _graph(document).events.select("part", "row", table=table_of_kind)
    first_items = pl.DataFrame(shifts, schema, orient="row")
    rows = rows.join(first_items, on=["part", "table"], how="left", maintain_order="left")
    return rows.select((pl.col("row") + pl.col("shift")).cast(pl.Int32)).to_series()


@once_per_document
def _segments(document: Document) -> pl.DataFrame:
    """All segments of the path, with their item and their time on the page."""
    segments, starts = _path(document).segments, _node_starts(document)
    start = starts.gather(segments["process"]).fill_null(_first(starts))
    return segments.with_columns(
        item=_items(document).gather(segments["event"]),
        begin=(segments["start_ns"] - start).cast(pl.Float64),
        end=(segments["end_ns"] - start).cast(pl.Float64),
        length_ns=segments["end_ns"] - segments["start_ns"],
    )


def _first(starts: pl.Series) -> int:
    return int(starts.min() or 0)  # type: ignore[arg-type]


@once_per_document
def path_of_run(document: Document) -> Any:
    """The critical path (`analysis.run.graph.path`): groups, classes, contributors, longest segments, steps."""
    path = _path(document)
    longest = _segments(document).sort(-pl.col("length_ns"), "begin").head(MOST_SEGMENTS)
    begin = (pl.col("start_ns") - _first(_node_starts(document))).cast(pl.Float64).alias("begin")
    return {
        "definition": path.definition,
        "groups": serialize(path.groups.drop("start_ns")),
        "classes": serialize(path.classes),
        "contributors": serialize(path.contributors.filter(pl.col("path_ns") > 0).drop("longest_at_ns")),
        "segments": serialize(_declared_columns(longest, SEGMENTS)),
        "steps": serialize(_declared_columns(path.steps.with_columns(begin), STEPS)),
        "caveats": list(path.caveats),
        "evidence": [path_evidence(path, group) for group in path.groups.to_dicts()],
        "clock_residual_ns": path.clock_residual_ns,
    }


def _declared_columns(frame: pl.DataFrame, spec: TableSpec) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in spec.dtypes.items())


def path_spans(document: Document, *, layer: str, level: int, tile: int) -> list[dict[str, Any]]:
    """The segments of the path in one tile of the timeline, the longest ones."""
    check_layer(layer)
    low, high = tile_window(document, level, tile)
    inside = _drawn_segments(document).filter((pl.col("begin") < high) & (pl.col("end") > low))
    return inside.sort(pl.col("begin") - pl.col("end"), "begin").head(MOST_SEGMENTS).to_dicts()


@once_per_document
def _drawn_segments(document: Document) -> pl.DataFrame:
    """The segments that are events on the timeline, with their track."""
    tracks = timeline_of(document).spans.select("item", "track")
    columns = ["track", "item", "begin", "end", pl.col("class").cast(pl.String), "is_inferred"]
    return _segments(document).drop_nulls("item").join(tracks, on="item").select(columns)


def slack_of(document: Document, item: int) -> int | None:
    """The slack of an event of the timeline; None = it is not in the event graph."""
    return _slack_by_item(document).get(item)


@once_per_document
def _slack_by_item(document: Document) -> dict[int, int]:
    return dict(zip(_items(document).to_list(), _graph(document).slack().to_list(), strict=True))


def what_if_of_run(document: Document, *, change: str) -> Any:
    """The time of each group after a change that is written as for `wavewright path --what-if`."""
    path, parts = _path(document), document.run.parts
    bounds = bounds_of((change,), lambda function: [function(part) for part in parts], path.groups["span_ns"])
    (scenario,) = what_if(_graph(document), (change,), path, bounds)
    rows = [
        {name: getattr(prediction, name) for name in ("group", "span_ns", "span_ns_min", "span_ns_max")}
        for prediction in scenario.predictions
    ]
    table = serialize(pl.DataFrame(rows, schema=PREDICTIONS.dtypes))
    return {"change": change, "gain_ns_max": scenario.gain_ns_max, "predictions": table}


def _usual_changes(document: Document) -> list[dict[str, str]]:
    """The changes whose effect an exported page stores."""
    graph, path = _graph(document), _path(document)
    if len(path.unexplained_groups) == path.groups.height:
        return []
    kernels = path.contributors.filter((pl.col("class") == "kernels") & (pl.col("what") == "work"))
    changes = ["launch-gaps", "host=-50%"] if (graph.tracks["is_gpu"] == 0).any() else []
    changes += [f"kernel={name}:-20%" for name in kernels["name"].head(_MOST_KERNELS)]
    for kind, change in (("copy", "copies"), ("communication", "communication")):
        changes += [change] if graph.events.filter(pl.col("kind") == kind).height else []
    ranks = graph.events.filter(pl.col("meeting").is_not_null())["rank"].drop_nulls().unique().sort()
    changes += [f"rank={rank}" for rank in ranks.head(_MOST_RANKS)]
    return [{"change": change} for change in changes]


QUESTIONS = (
    PageQuestion("run_path", path_of_run),
    PageQuestion("run_path_spans", path_spans, TILE_OF_LAYER, required=tuple(TILE_OF_LAYER), exported=tiles_of_run),
    PageQuestion("run_what_if", what_if_of_run, {"change": text}, required=("change",), exported=_usual_changes),
)
