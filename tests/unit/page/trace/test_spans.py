"""Timelines of traces: what their tiles hold, against the tables and the analyses."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.conftest import SHARED
from tests.kit.small_traces import frame, small_trace
from wavewright.analysis.common.timeline import SpanTiles
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.analysis.trace.waves.states import states
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.page.questions import questions_about
from wavewright.page.trace.items import event, instruction, marker, resident_wave, shader_value
from wavewright.page.trace.spans import layers_of_trace, spans_of_trace, tiles_of_trace
from wavewright.page.trace.times import aligned

SLOT = ["se", "cu", "simd", "slot"]
SCENARIOS = {
    "gfx9": Scenario(
        kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, realtime_pairs=3, earlier_waves=3, events=4,
        shader_data=True, dispatches=2,
    ),
    "gfx12": Scenario(
        family="gfx12", kernels=(compiled("tiled_gemm", "gfx1201"),), shader_engines=2, realtime_pairs=3, other_simd=9,
        events=4, shader_data=True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=SCENARIOS)
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp(request.param)
    write_capture(synthesize(SCENARIOS[request.param]), folder)
    trace = wavewright.open(folder)
    return Document(0, "", "", lambda: trace)


def described(document: Document, name: str) -> dict[str, Any]:
    return next(layer for layer in layers_of_trace(document)["layers"] if layer["name"] == name)


def whole(document: Document, name: str, level: int = 0) -> pl.DataFrame:
    """A level of a timeline, with what is known of tracks; spans that lie in several tiles once."""
    layer = described(document, name)
    width = layer["tile_cells"] * layer["cell"] << level
    tiles = range((layer["end"] - layer["begin"]) // width + 1)
    parts = [spans_of_trace(document, layer=name, level=level, tile=tile) for tile in tiles]
    found = pl.concat([part.with_columns(first=layer["begin"] + n * width) for n, part in enumerate(parts)])
    reaching_in = (pl.col("begin") < pl.col("first")) & (pl.col("first") > layer["begin"])
    both = found.filter(~reaching_in).drop("first")
    tracks = pl.DataFrame(described(document, layer["tracks_of"] or name)["tracks"]).with_columns(
        pl.col("track").cast(pl.UInt32)
    )
    return both.join(tracks, on="track", how="left", maintain_order="left")


def test_every_instruction_is_a_span_of_its_slot(document: Document) -> None:
    trace = document.trace
    offsets = alignment(trace).offsets
    assert alignment(trace).is_aligned
    assert any(offsets.values())
    table = trace.instructions.with_row_index("item").join(trace.waves.select("wave", *SLOT), on="wave")
    begin = pl.col("time_cycles") + pl.col("se").replace_strict(offsets, return_dtype=pl.Int64)
    length = pl.max_horizontal("stall_cycles", "duration_cycles")
    is_matrix = trace.code.filter(pl.col("text").str.contains("mfma|wmma"))["row"]
    kind = pl.when(pl.col("row").is_in(is_matrix.implode())).then(15).otherwise("category")
    expected = table.select("item", *SLOT, begin.alias("begin"), (begin + length).alias("end"), kind.alias("kind"))
    found = whole(document, "instructions").sort("item")
    assert expected.height
    assert found.select("item", *SLOT, "begin", "end", "kind").rows() == expected.sort("item").rows()


def test_states_follow_each_other_from_the_begin_of_their_wave(document: Document) -> None:
    found = whole(document, "states")
    total = found.group_by("kind").agg(cycles=(pl.col("end") - pl.col("begin")).sum())
    names = {kind["kind"]: kind["name"] for kind in described(document, "states")["kinds"]}
    by_name = {names[kind]: cycles for kind, cycles in total.rows() if cycles}
    assert by_name == dict(states(document.trace).total.select("state", "cycles_total").rows())
    first = document.trace.waves.select("first_state", aligned(document.trace, "start_cycles"))
    begins = dict(found.select("item", "begin").rows())
    assert [begins[item] for item in first["first_state"]] == first["start_cycles"].to_list()


def covered(spans: pl.DataFrame) -> float:
    """Time that spans cover; what overlaps counts once."""
    total, reach = 0.0, float("-inf")
    for begin, end in spans.sort("begin").select("begin", "end").rows():
        total += max(0.0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def test_pipes_issue_as_the_utilization_says(document: Document) -> None:
    trace = document.trace
    found = whole(document, "pipes")
    own = found.filter(pl.col("item") < trace.instructions.height)
    busy = {
        (se, pipe): sum(covered(track) for _, track in spans.group_by("simd"))
        for (se, pipe), spans in own.group_by("se", "pipe")
    }
    expected = utilization(trace).by_engine.select("se", "pipe", "issue_cycles_total").rows()
    assert busy == {(se, pipe): cycles for se, pipe, cycles in expected if cycles}
    assert set(found["track"]) == {track["track"] for track in described(document, "pipes")["tracks"]}


def test_neighbours_join_the_vmem_pipe_of_the_other_simd(document: Document) -> None:
    trace = document.trace
    beside = whole(document, "pipes").filter(pl.col("item") >= trace.instructions.height)
    assert beside.height == trace.other_simd.height
    if trace.gfxip < 11:
        assert not any(layer["name"] == "other_simd" for layer in layers_of_trace(document)["layers"])
        return
    target = dict(trace.shader_engines.select("se", "target_simd").rows())
    assert set(beside["pipe"]) == {"VMEM"}
    assert all(simd == target[se] ^ 1 for se, simd in beside.select("se", "simd").rows())
    own = whole(document, "other_simd").sort("item")
    assert own["begin"].to_list() == beside.sort("item")["begin"].to_list()
    known = instruction(document, item=trace.instructions.height)
    assert known["wave"] is None
    assert known["time_cycles"] == own["begin"][0]


def test_waves_are_those_of_the_occupancy(document: Document) -> None:
    trace = document.trace
    table = resident_waves(trace).with_row_index("item")
    found = whole(document, "waves").sort("item")
    begin, end = aligned(trace, "start_cycles"), aligned(trace, "end_cycles")
    assert found.select("item", *SLOT, "begin", "end").rows() == table.select("item", *SLOT, begin, end).rows()
    assert set(found["kind"]) <= {kind["kind"] for kind in described(document, "waves")["kinds"]}
    unknown = {kind["name"] for kind in described(document, "waves")["kinds"]} & {"unknown kernel"}
    assert bool(unknown) == bool(table["kernel"].null_count())
    first = described(document, "waves")["begin"]
    assert found["begin"].min() >= first > 0


def test_a_wave_tells_about_itself(document: Document) -> None:
    trace = document.trace
    traced = set()
    for item in range(resident_waves(trace).height):
        known = resident_wave(document, item=item)
        assert known["kernel_name"] in {None, *trace.kernels["demangled"]}
        assert known["start_cycles"] <= known["end_cycles"]
        if known["wave"] is not None:
            same = trace.waves.row(by_predicate=pl.col("wave") == known["wave"], named=True)
            assert [same[name] for name in SLOT] == [known[name] for name in SLOT]
            traced.add(known["wave"])
    assert len(traced) == trace.waves.height


def resources(known: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(known[name] or 0 for name in ("vgprs", "agprs", "lds_bytes"))


def test_dispatches_and_waves_tell_the_resources_that_the_occupancy_tells(document: Document) -> None:
    trace = document.trace
    expected = {row["kernel"]: resources(row) for row in occupancy(trace).kernels.iter_rows(named=True)}
    launches = [event(document, item=item) for item in range(trace.events.height + trace.dispatches.height)]
    told = {known["kernel"]: resources(known) for known in launches if known["type"] == "DISPATCH"}
    assert told == {kernel: expected[kernel] for kernel in told}
    assert bool(told) == bool(trace.dispatches.height)
    for item, kernel in enumerate(resident_waves(trace)["kernel"]):
        if kernel is not None:
            assert resources(resident_wave(document, item=item)) == expected[kernel]


def test_granules_of_a_real_dispatch_are_not_taken_for_bytes_and_registers() -> None:
    capture = SHARED / "data" / "att-mi300x-bmm" / "c03" / "raw"
    if not capture.is_dir():
        pytest.skip("no c03 in ../shared")
    trace = wavewright.open(capture, amd=True)
    document = Document(0, "", "", lambda: trace)
    assert trace.dispatches.select("vgprs", "lds_bytes").row(0) == (64, 5120)
    assert resources(event(document, item=0)) == (44, 20, 2048)
    assert resources(resident_wave(document, item=0)) == (44, 20, 2048)


def test_an_instruction_knows_its_execution(document: Document) -> None:
    trace = document.trace
    wave = trace.waves.row(1, named=True)
    rows = trace.instructions.slice(wave["first_instruction"], wave["instruction_count"])
    offset = alignment(trace).offsets[wave["se"]]
    barriers = set(trace.code.filter(pl.col("text").str.starts_with("s_barrier"))["row"])
    is_gfx9 = trace.gfxip == 9  # where a barrier has two records, arrival and release
    seen: dict[int, int] = {}
    for position, step in enumerate(itertools.islice(rows.iter_rows(named=True), 300)):
        known = instruction(document, item=wave["first_instruction"] + position)
        assert (known["wave"], known["position"], known["row"]) == (wave["wave"], position, step["row"])
        assert known["time_cycles"] == step["time_cycles"] + offset
        records = 2 if is_gfx9 and step["row"] in barriers else 1
        assert known["iteration"] == seen.get(step["row"], 0) // records
        seen[step["row"]] = seen.get(step["row"], 0) + 1


def test_events_and_dispatches_are_moments(document: Document) -> None:
    trace = document.trace
    found = whole(document, "events")
    assert found.height == trace.events.height + trace.dispatches.height
    assert (found["begin"] == found["end"]).all()
    kinds = {kind["kind"]: kind["name"] for kind in described(document, "events")["kinds"]}
    for item, begin, kind in found.select("item", "begin", "kind").rows():
        known = event(document, item=item)
        assert (known["time_cycles"], known["type"]) == (begin, kinds[kind])
        if known["type"] == "DISPATCH":
            assert known["kernel_name"] == "tiled_gemm"


def test_shader_data_are_moments_of_their_slot(document: Document) -> None:
    trace = document.trace
    found = whole(document, "shader_data").sort("item")
    assert found.height == trace.shader_data.height > 0
    assert found.select(SLOT).rows() == trace.shader_data.select(SLOT).rows()
    assert int(shader_value(document, item=0)["value"], 16) == trace.shader_data["value"][0]


def test_every_level_covers_what_level_0_covers(document: Document) -> None:
    for layer in layers_of_trace(document)["layers"]:
        name = layer["name"]
        raw = {track: covered(spans) for (track,), spans in whole(document, name).group_by("track")}
        spans = len(SpanTiles(layers(document.trace)[name]))
        for level in range(1, layer["level_count"]):
            groups = whole(document, name, level)
            shown = {track: covered(spans) for (track,), spans in groups.group_by("track")}
            assert shown.keys() == raw.keys()
            assert all(shown[track] >= raw[track] for track in raw)
            assert groups["count"].sum() == spans


def test_an_exported_page_holds_all_tiles_of_a_short_trace(document: Document) -> None:
    held = list(tiles_of_trace(document))
    assert {given["layer"] for given in held} == {layer["name"] for layer in layers_of_trace(document)["layers"]}
    question = questions_about("trace")["spans"]
    for given in held:
        assert question.parsed({name: str(value) for name, value in given.items()}) == given


@pytest.mark.parametrize("given", [("nothing", 0, 0), ("waves", 99, 0), ("waves", -1, 0), ("waves", 0, 1 << 60)])
def test_what_there_is_not(document: Document, given: tuple[str, int, int]) -> None:
    layer, level, tile = given
    with pytest.raises(UsageError, match=r"no timeline|has no tile"):
        spans_of_trace(document, layer=layer, level=level, tile=tile)


@pytest.mark.parametrize("ask", [instruction, resident_wave, event, marker, shader_value])
@pytest.mark.parametrize("item", [-1, 1 << 62])
def test_items_that_there_are_not(document: Document, ask: Any, item: int) -> None:
    with pytest.raises(UsageError, match="there is no"):
        ask(document, item=item)


@pytest.mark.parametrize("far", [1 << 40, (1 << 63) - 1, -(1 << 63)])
@pytest.mark.parametrize("first", [0, 2, 1 << 63])
def test_damaged_times_and_places(far: int, first: int) -> None:
    steps = [(0, "IMMED", 4, 0, 4), (1, "MSG", far, 2**31 - 1, -(2**31)), (9, "VALU", 12, -5, 4)]
    small = small_trace(["s_nop 0", "s_endpgm"], steps)
    waves = small.waves.with_columns(
        first_instruction=pl.lit(first, pl.UInt64),
        instruction_count=pl.lit(2**32 - 1, pl.UInt32),
        end_cycles=pl.lit(far, pl.Int64),
    )
    places = {"cu": [1] * 3, "simd": [0] * 3, "slot": [0] * 3}
    events = {"se": [0, 0, 9], "time_cycles": [far, 5, 0], "start": [True, False, True], "kernel": [2**32 - 1, None, 0]}
    occupancy = frame("occupancy", places | events)
    trace = ThreadTrace({**small.tables, "waves": waves, "occupancy": occupancy}, small.source)
    document = Document(0, "", "", lambda: trace)
    assert [layer["name"] for layer in layers_of_trace(document)["layers"]][:2] == ["waves", "instructions"]
    for layer in layers_of_trace(document)["layers"]:
        for level in range(layer["level_count"]):
            found = spans_of_trace(document, layer=layer["name"], level=level, tile=0)
            assert (found["begin"] <= found["end"]).all()


def test_markers_nest_on_tracks_of_their_depth() -> None:
    columns = {"se": 0, "cu": 1, "simd": 2, "slot": 3, "record_kind": 0, "value": 0}
    rows = [(10, 2, "outer", 2), (20, 2, "inner", 2), (30, 2, "inner", 1), (35, 3, "here", 0), (40, 2, "outer", 1)]
    made: dict[str, list[Any]] = {name: [value] * len(rows) for name, value in columns.items()}
    made |= {"time_cycles": [row[0] for row in rows], "marker_kind": [row[1] for row in rows]}
    made |= {"name": [row[2] for row in rows], "flags": [row[3] for row in rows]}
    trace = ThreadTrace({"markers": frame("markers", made)}, TraceSource(path="made"))
    document = Document(0, "", "", lambda: trace)
    names = {kind["kind"]: kind["name"] for kind in described(document, "markers")["kinds"]}
    found = [
        (names[row["kind"]], row["depth_right"], row["begin"], row["end"])
        for row in whole(document, "markers").sort("begin").iter_rows(named=True)
    ]
    assert found == [("outer", 0, 10, 40), ("inner", 1, 20, 30), ("here", 1, 35, 35)]
    assert marker(document, item=1)["name"] == "inner"
