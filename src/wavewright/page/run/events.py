"""Single events of a run on the page: all details, the next one of its kind, arrows from calls to the launched work.

An event is named by its `item`, its number on the timeline: the tables follow each other there, and `first_items` of
the timeline says with which number each begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.run.calls.launches import launch_flows
from wavewright.base.bounds import ITEM, Bounds
from wavewright.base.words import duration
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.run_labels import agent_label
from wavewright.page.protocol.question import TILE, PageQuestion, no_answers, once_per_document
from wavewright.page.run.layers import check_layer, tile_window, timeline_of
from wavewright.page.run.path import slack_of
from wavewright.questions.kit.parameters import Number, Parameters, place, text

MOST_FLOWS = 400  #: Arrows of one answer.
_MOST_CACHED_ROWS = 2_000_000  #: Larger tables are read piece by piece.
_LONGEST_TEXT = 4_000  #: Characters of a fact, such as the arguments of a call.
_EXPORTED = 2_000  #: Events whose details an exported page stores.

#: Table -> name of one row.
WORDS = {"dispatches": "dispatch", "copies": "copy", "allocations": "allocation", "regions": "call", "samples": "mark"}
_SHOWN_ELSEWHERE = ("start_ns", "end_ns", "time_ns", "name")  #: Columns that are no facts: the head of the details.
#: Column with a row number -> its table, and the columns of that row which describe it.
_REFERENCES = {
    "process": ("processes", ("pid", "rank", "command")),
    "thread": ("threads", ("tid", "name")),
    "queue": ("queues", ("queue_id", "name")),
    "stream": ("streams", ("stream_id", "name")),
    "symbol": ("symbols", ("mangled",)),
}
_AGENTS = ("agent", "src_agent", "dst_agent")
_ADDRESSES = ("address", "src_address", "dst_address")


def flows(
    document: Document, *, layer: str, item: int | None = None, level: int | None = None, tile: int | None = None
) -> dict[str, Any]:
    """Arrows from calls to all work they launched: of an event's call and of calls within it, or of all in a tile.

    `count` counts all of them, or is a lower bound where a tile has more than `MOST_FLOWS`. Of more than that an event
    gets the first ones, a tile none.
    """
    check_layer(layer)
    all_flows = _flows(document)
    if item is not None:
        calls = all_flows.filter((pl.col("from_item") == item) | (pl.col("to_item") == item))["from_item"]
        is_of_chain = pl.col("from_item").is_in(calls.implode())
        if drawn_span := _drawn(document, item):
            is_within = pl.col("from_begin").is_between(drawn_span["start_ns"], drawn_span["end_ns"], closed="left")
            is_of_chain |= (pl.col("from_track") == drawn_span["track"]) & is_within
        flow_rows = all_flows.filter(is_of_chain)
        return {"count": flow_rows.height, "flows": flow_rows.head(MOST_FLOWS).to_dicts()}
    if level is None or tile is None:
        raise UsageError("flows: an item, or a level and a tile")
    begin, end = tile_window(document, level, tile)
    low, high = (all_flows["from_begin"].search_sorted(time) for time in (begin, end))
    arrivals = _flow_arrivals(document)
    first_arrival, last_arrival = (arrivals.times.search_sorted(time) for time in (begin, end))
    least_count = max(high - low, last_arrival - first_arrival)  # flows within the tile are in both
    if least_count > MOST_FLOWS:
        return {"count": least_count, "flows": []}
    from_elsewhere = ~pl.col("from_begin").is_between(begin, end, closed="left")
    arrival_rows = all_flows[arrivals.rows[first_arrival:last_arrival]].filter(from_elsewhere)
    flow_rows = pl.concat([all_flows[low:high], arrival_rows])
    return {"count": flow_rows.height, "flows": flow_rows.to_dicts() if flow_rows.height <= MOST_FLOWS else []}


@once_per_document
def _flows(document: Document) -> pl.DataFrame:
    """All launches with both ends on the timeline, by the start of the call.

    Columns: `from_` (the call) and `to_` (its work), each with `item`, `track`, `begin` and `end`.
    """
    timeline = timeline_of(document)
    first = timeline.first_items
    first_item_of_work = pl.when("is_copy").then(first["copies"]).otherwise(first["dispatches"])
    items = launch_flows(document.run).flows.select(
        from_item=(pl.col("region") + first["regions"]).cast(pl.Int32),
        to_item=(pl.col("work") + first_item_of_work).cast(pl.Int32),
    )
    times = pl.col("start_ns", "end_ns").cast(pl.Float64)
    ends = timeline.spans.select("item", "track", times).rename({"start_ns": "begin", "end_ns": "end"})
    for side in ("from", "to"):
        items = items.join(ends.rename({name: f"{side}_{name}" for name in ends.columns}), on=f"{side}_item")
    return items.sort("from_begin", "to_begin", "to_item")


class _Arrivals(NamedTuple):
    """The flows in the order in which the launched work starts, to search by time."""

    rows: pl.Series  #: Row of each in `_flows`.
    times: pl.Series  #: Start of its work, ascending.


@once_per_document
def _flow_arrivals(document: Document) -> _Arrivals:
    starts = _flows(document)["to_begin"]
    order = starts.arg_sort()
    return _Arrivals(order, starts.gather(order))


def event_place(document: Document, item: int) -> tuple[str, int]:
    """The table and the row of an event."""
    timeline = timeline_of(document)
    table = next((name for name, first in reversed(timeline.first_items.items()) if item >= first), None)
    if table is None or item >= timeline.item_count:
        raise UsageError(f"there is no event {item}")
    return table, item - timeline.first_items[table]


def span(document: Document, *, layer: str, item: int) -> dict[str, Any]:
    """All details of one event: times, location, sizes, arguments, counters, call stack, its launch."""
    check_layer(layer)
    table, row = event_place(document, item)
    facts = _row(document, table, row)
    drawn_span = _drawn(document, item)
    details: dict[str, Any] = {"item": item, "table": table, "what": WORDS[table], "name": _name(table, facts)}
    if drawn_span:
        details |= _place(drawn_span) | {"kind": drawn_span["kind"]}
        details["duration_ns"] = float(drawn_span["end_ns"] - drawn_span["start_ns"])
    details["facts"] = [*_slack(document, item), *_facts(document, facts)]
    event, process = facts.get("event"), facts.get("process")
    if event is not None and process is not None:
        is_event = (pl.col("event") == event) & (pl.col("process") == process)
        arguments = _rows(document, "arguments", is_event).sort("position").select("name", "type", "value")
        details["arguments"] = arguments.to_dicts()
        details["frames"] = _rows(document, "frames", is_event).sort("depth")["name"].cast(pl.String).to_list()
        if table == "dispatches":
            details["counters"] = _counters(document, is_event)
    return details | {"flows": flows(document, layer=layer, item=item)}


def _place(drawn_span: dict[str, Any]) -> dict[str, Any]:
    """Track and time of a span on the timeline."""
    begin, end = float(drawn_span["start_ns"]), float(drawn_span["end_ns"])
    return {"track": drawn_span["track"], "begin": begin, "end": end}


def _drawn(document: Document, item: int) -> dict[str, Any] | None:
    """The span of an event on the timeline; None = it has none."""
    spans = timeline_of(document).spans
    row = spans["item"].search_sorted(item)
    return spans.row(row, named=True) if row < spans.height and spans["item"][row] == item else None


def _slack(document: Document, item: int) -> list[dict[str, str]]:
    """The slack of an event that is in the event graph."""
    slack_ns = slack_of(document, item)
    if slack_ns is None:
        return []
    words = "none: a delay of it delays the run" if slack_ns == 0 else duration(slack_ns)
    return [{"name": "slack", "value": words}]


def _counters(document: Document, is_event: pl.Expr) -> list[dict[str, Any]]:
    values = _rows(document, "counters", is_event).filter(pl.col("time_ns").is_null())
    names = document.run.table("counter_info").select("counter", "name", "units")
    return (
        values.join(names, on="counter", how="left")
        .group_by("name", "units", maintain_order=True)
        .agg(pl.col("value").sum())
        .sort("name")
        .to_dicts()
    )


def _name(table: str, row: dict[str, Any]) -> str:
    if table == "allocations":
        return f"{row['type'] or ''} {row['level'] or ''}"
    return str(row["name"] or "")


def _facts(document: Document, row: dict[str, Any]) -> list[dict[str, str]]:
    """The columns of a row as text, with references resolved; those that were not recorded are left out."""
    facts = []
    for name, value in row.items():
        if name in _SHOWN_ELSEWHERE or value is None or value in ("", "{}"):
            continue
        if name in _REFERENCES:
            table, columns = _REFERENCES[name]
            entity = document.run.table(table).select(columns).row(value, named=True)
            words = [f"{key} {item}" for key, item in entity.items() if item not in (None, "")]
            value_text = ", ".join(words)
        elif name in _AGENTS:
            value_text = agent_label(document.run.table("agents").row(value, named=True))
        elif name in _ADDRESSES:
            value_text = f"0x{value:x}"
        else:
            value_text = f"{value:,}" if name.endswith(("_bytes", "_count")) else str(value)
        facts.append({"name": name, "value": value_text[:_LONGEST_TEXT]})
    return facts


def _row(document: Document, table: str, row: int) -> dict[str, Any]:
    """A row of a table; of a large one only the last chunk that was read is cached."""
    if _count(document, table) <= _MOST_CACHED_ROWS:
        return document.run.table(table).row(row, named=True)
    pieces: dict[str, tuple[int, pl.DataFrame]] = document.kept("pieces of events", dict)
    first, piece = pieces.get(table, (0, None))
    if piece is None or not first <= row < first + piece.height:  # the next event that is requested is often near
        pieces[table] = first, piece = _piece(document, table, row)
    return piece.row(row - first, named=True)


def _piece(document: Document, table: str, row: int) -> tuple[int, pl.DataFrame]:
    """The chunk of a table that contains a row, and the number of its first row."""
    first = 0
    for piece in document.run.chunks(table):
        if row < first + piece.height:
            return first, piece
        first += piece.height
    raise UsageError(f"{table} ended before row {row}", advice="the file changed while it is open: open it again")


def _rows(document: Document, table: str, condition: pl.Expr) -> pl.DataFrame:
    """The rows of a table that fulfil a condition; the table is cached if it is not too large."""
    if _count(document, table) <= _MOST_CACHED_ROWS:
        return document.run.table(table).filter(condition)
    return pl.concat([piece.filter(condition) for piece in document.run.chunks(table)])


@once_per_document
def _count(document: Document, table: str) -> int:
    return document.run.count(table)


def occurrence(document: Document, *, layer: str, kind: int, item: int = -1, step: int = 1) -> dict[str, Any]:
    """The `step`-th event of a kind after `item` (-1 = none) in the order of time, the first following the last.

    `number` is its place among all `count` of them, from 0.
    """
    check_layer(layer)
    cached_kind: dict[int, pl.DataFrame] = document.kept("occurrences", dict)
    events = cached_kind.get(kind)
    if events is None:
        events = timeline_of(document).spans.filter(pl.col("kind") == kind).sort("start_ns", "item")
        cached_kind.clear()  # only the last kind stays: a kind can have as many events as the run
        cached_kind[kind] = events
    if not events.height:
        raise UsageError(f"no event has kind {kind}")
    position = events["item"].index_of(item) if item >= 0 else None  # None = not of this kind: start at the first
    number = 0 if position is None else (position + step) % events.height
    row = events.row(number, named=True)
    return {"item": row["item"], **_place(row), "number": number, "count": events.height}


def longest_events(document: Document) -> list[dict[str, Any]]:
    """The events whose details an exported page stores, the longest first."""
    length = pl.col("end_ns") - pl.col("start_ns")
    longest = timeline_of(document).spans.top_k(_EXPORTED, by=length).sort(length, "item", descending=[True, False])
    return [{"layer": "run", "item": item} for item in longest["item"]]


_STEPS = Bounds(-ITEM.high, ITEM.high)
_ITEM: Parameters = {"layer": text, "item": place}
_KIND: Parameters = {"layer": text, "kind": place, "item": Number(Bounds(-1, ITEM.high)), "step": Number(_STEPS)}


QUESTIONS = (
    PageQuestion("occurrence", occurrence, _KIND, required=("layer", "kind"), exported=no_answers),
    PageQuestion("span", span, _ITEM, required=("layer", "item"), exported=longest_events),
    PageQuestion("flows", flows, {**_ITEM, **TILE}, required=("layer",), exported=longest_events),
)
