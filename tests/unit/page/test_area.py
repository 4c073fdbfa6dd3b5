"""What is inside selected tracks and time, against sums made here."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import polars as pl
import pytest

from tests.e2e.inputs import made_gemm
from tests.e2e.run_inputs import made_ranks
from tests.kit.barrier_records import without_releases
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.timeline.area import area_rows
from wavewright.errors import UsageError
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask
from wavewright.page.protocol.timelines import tracks_from
from wavewright.page.run.layers import timeline_of
from wavewright.page.trace.spans import layers_of_trace
from wavewright.readers.opening import open as open_path

SLOT = ["se", "cu", "simd", "slot"]


@pytest.fixture(scope="module")
def library() -> Library:
    opened = Library()
    for make in (made_gemm, made_ranks):
        path = make()
        opened.add(path.name, str(path), partial(open_path, path))
    return opened


def answered(document: Document, name: str, **given: object) -> Any:
    return json.loads(ask(document, name, {key: str(value) for key, value in given.items()}).content)


def moment(times: pl.Series, share: float) -> int:
    """The time before which a share of them lies."""
    return int(times.quantile(share) or 0)


def executions(document: Document) -> pl.DataFrame:
    """All instructions with their slot and aligned time."""
    trace = document.trace
    offsets = alignment(trace).offsets
    rows = trace.instructions.with_row_index("item").join(trace.waves.select("wave", *SLOT), on="wave")
    move = pl.col("se").replace_strict(offsets, default=0, return_dtype=pl.Int64)
    rows = rows.with_columns(time=pl.col("time_cycles") + move)
    # the release of a barrier lies where its execution does: at the arrival before it
    is_release = ~rows["item"].is_in(without_releases(trace, rows)["item"].implode())
    return rows.with_columns(time=pl.when(is_release).then(pl.col("time").shift(1)).otherwise("time"))


@pytest.mark.parametrize("layer", ["instructions", "waves"])
def test_rows_of_a_trace_are_sums_over_the_tracks(library: Library, layer: str) -> None:
    document = library.document(0)
    tracks = {line["name"]: line["tracks"] for line in layers_of_trace(document)["layers"]}
    traced = {tuple(track[name] for name in SLOT) for track in tracks["instructions"]}
    chosen = [track for track in tracks[layer] if tuple(track[name] for name in SLOT) in traced][1:4]
    slots = pl.DataFrame([{name: track[name] for name in SLOT} for track in chosen])
    everything = executions(document)
    start, stop = (moment(everything["time"], share) for share in (0.2, 0.7))
    inside = everything.join(slots.cast({name: everything.schema[name] for name in SLOT}), on=SLOT, how="semi")
    inside = inside.filter(pl.col("time") >= start, pl.col("time") < stop)
    text = f"{layer}:" + ",".join(str(track["track"]) for track in chosen)
    got = answered(document, "area", tracks=text, start=start, stop=stop)
    executed = without_releases(document.trace, everything).join(inside, on="item", how="semi")
    assert got["execution_count"] + got["unknown_count"] == executed.height > 50
    known = inside.filter(pl.col("row") >= 0)
    counts = dict(executed.group_by("row").len().iter_rows())
    expected = {
        row: (counts[row], group["duration_cycles"].sum(), group["stall_cycles"].sum(), group["duration_cycles"].max())
        for (row,), group in known.group_by("row")
    }
    shown = {
        line["row"]: (line["execution_count"], line["latency_cycles_total"], line["stall_cycles_total"],
                      line["latency_cycles_max"])
        for line in got["rows"]["rows"]
    }  # fmt: skip
    assert shown == expected
    latencies = [line["latency_cycles_total"] for line in got["rows"]["rows"]]
    assert latencies == sorted(latencies, reverse=True)
    assert sum(latencies) == got["latency_cycles_total"]
    for line in got["rows"]["rows"]:
        of_row = known.filter(pl.col("row") == line["row"]).sort("time", "item")
        assert line["first_item"] == of_row["item"][0]
        assert line["issue_cycles_total"] == line["latency_cycles_total"] - line["stall_cycles_total"]


def test_tracks_of_pipes_hold_what_they_issue(library: Library) -> None:
    document = library.document(0)
    pipes = next(line for line in layers_of_trace(document)["layers"] if line["name"] == "pipes")
    track = next(track for track in pipes["tracks"] if track["pipe"] == "VALU")
    everything = executions(document)
    issued = everything.with_columns(time=pl.col("time") + pl.col("stall_cycles"))
    of_unit = issued.filter(pl.col("se") == track["se"], pl.col("simd") == track["simd"])
    start, stop = moment(of_unit["time"], 0), moment(of_unit["time"], 0.5)
    categories = of_unit.filter(pl.col("time") >= start, pl.col("time") < stop)
    got = answered(document, "area", tracks=f"pipes:{track['track']}", start=start, stop=stop)
    rows = [line["row"] for line in got["rows"]["rows"]]
    expected = categories.filter(pl.col("row").is_in(rows)).height
    assert got["execution_count"] == expected > 10
    assert all(line["text"].startswith("v_") for line in got["rows"]["rows"])


def test_without_tracks_the_time_of_all_is_meant(library: Library) -> None:
    document = library.document(0)
    everything = executions(document)
    start, stop = (moment(everything["time"], share) for share in (0.4, 0.5))
    executed = without_releases(document.trace, everything)  # a barrier is executed where it arrives
    inside = executed.filter(pl.col("time") >= start, pl.col("time") < stop)
    got = answered(document, "area", start=start, stop=stop)
    assert got["execution_count"] + got["unknown_count"] == inside.height


def test_names_of_a_run_count_with_their_part_inside(library: Library) -> None:
    document = library.document(1)
    timeline = timeline_of(document)
    names = dict(timeline.kinds.select("kind", "name").iter_rows())
    tracks = [0, 2, 3]
    start, stop = (moment(timeline.spans["start_ns"], share) for share in (0.3, 0.6))
    got = answered(document, "run_area", tracks="run:0,2-3", start=start, stop=stop)
    totals: dict[str, list[int]] = {}
    for track, kind, begin, end in timeline.spans.select("track", "kind", "start_ns", "end_ns").iter_rows():
        is_inside = begin < stop and (end > start or begin == end >= start)
        if track in tracks and is_inside:
            totals.setdefault(names[kind], []).append(min(end, stop) - max(begin, start))
    shown = {line["name"]: (line["event_count"], line["total_ns"], line["max_ns"]) for line in got["names"]["rows"]}
    assert shown == {name: (len(parts), sum(parts), max(parts)) for name, parts in totals.items()}
    assert got["event_count"] == sum(map(len, totals.values())) > 20
    assert sum(line["share"] for line in got["names"]["rows"]) == pytest.approx(1)
    first = got["names"]["rows"][0]
    assert first["mean_ns"] == pytest.approx(first["total_ns"] / first["event_count"])
    longest = timeline.spans.filter(pl.col("item") == first["longest_item"]).row(0, named=True)
    assert min(longest["end_ns"], stop) - max(longest["start_ns"], start) == first["max_ns"]


@pytest.mark.parametrize("given", ["", "run", "run:", "run:1-", "run:a", "Run:1", "run:1;2", "run:0-999999"])
def test_what_names_no_tracks_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        tracks_from(given)


def test_a_timeline_that_is_not_there_is_refused(library: Library) -> None:
    for number, name in ((0, "area"), (1, "run_area")):
        with pytest.raises(UsageError):
            answered(library.document(number), name, tracks="nowhere:1", start=0, stop=1)


def test_a_window_between_arrival_and_release_counts_a_barrier_once(library: Library) -> None:
    trace = library.document(0).trace
    rows = trace.instructions.with_row_index("item")
    executed = without_releases(trace, rows)["item"]
    released = rows.filter(~pl.col("item").is_in(executed.implode()))
    ends = released["time_cycles"].unique().sort()
    assert len(ends) > 2
    for start, end in ((ends[0], ends[-1]), (ends[len(ends) // 2], ends[-1] + 1), (0, ends[len(ends) // 2])):
        window = Selection(start_cycles=start, end_cycles=end)
        costs = row_costs(select(trace, window)).select("row", "hit_count", "latency_cycles_total").sort("row")
        area = area_rows(trace, "instructions", None, start, end).rows.sort("row")
        assert area.select("row", "execution_count", "latency_cycles_total").rows() == costs.rows()
