"""Synthetic captures -> tables -> decoded directory -> tables: equal where the format keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import wavewright
from synth import Scenario, compiled, synthesize, tour, write_capture
from tests.kit.together import together
from tests.unit.readers.trace.test_markers import NAMES, OBJECT, Stream
from wavewright import _core
from wavewright.analysis.trace.trust.caveats import differing_row_count
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers.files.folder import Directory
from wavewright.readers.trace import assemble
from wavewright.readers.trace.att import with_marker_names
from wavewright.readers.trace.ui_output import read_ui_output

if TYPE_CHECKING:
    from pathlib import Path

PLACE = ["se", "cu", "simd", "slot", "start_cycles"]
ALWAYS = ("sampled_counters", "other_simd", "shader_data", "realtime")
"""Tables that both schemas keep whole."""

KERNELS = {
    "gfx9": (compiled("tiled_gemm", "gfx942"), compiled("saxpy", "gfx942")),
    "gfx10": (compiled("reduction", "gfx1030"),),
    "gfx11": (compiled("divergent", "gfx1100"),),
    "gfx12": (compiled("tiled_gemm", "gfx1201"),),
    "gfx1250": (tour("gfx1250"),),
}


@pytest.fixture(scope="module", params=sorted(KERNELS))
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    family = request.param
    scenario = Scenario(
        family=family,
        kernels=KERNELS[family],
        shader_engines=2,
        dispatches=2,
        counters=family == "gfx9",
        shader_data=True,
        realtime_pairs=3,
        events=5,
        other_simd=0 if family in ("gfx9", "gfx10") else 6,
        extended_starts=family not in ("gfx9", "gfx10"),
    )
    folder = tmp_path_factory.mktemp(family)
    write_capture(synthesize(scenario), folder)
    return wavewright.open(folder)


@pytest.fixture(scope="module", params=["3.0", "3.1"])
def again(
    request: pytest.FixtureRequest, original: ThreadTrace, tmp_path_factory: pytest.TempPathFactory
) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("again")
    return read_ui_output(Directory(write_ui_output(original, folder, schema=request.param)))


def executed(trace: ThreadTrace) -> pl.DataFrame:
    """Instructions with their wave's place and their code's, whatever the numbers of waves and rows are."""
    code = trace.code.select("row", "code_object", "address", "text", "class", "function", "inline_chain", "line")
    kept = trace.waves.filter((pl.col("instruction_count") > 0) | (pl.col("state_count") >= 3))
    return (
        trace.instructions.with_row_index("index")
        .join(kept.select("wave", *PLACE, "first_instruction"), on="wave", maintain_order="left")
        .join(code, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("index") - pl.col("first_instruction"))
        .drop("wave", "row", "first_instruction")
        .sort(*PLACE, "index")
    )


@pytest.mark.first_case
def test_instructions_with_their_code(original: ThreadTrace, again: ThreadTrace) -> None:
    assert again.instructions.height > 100
    assert_frame_equal(executed(again), executed(original))


@pytest.mark.some_cases(4)
def test_waves_and_states(original: ThreadTrace, again: ThreadTrace) -> None:
    kept = original.waves.filter((pl.col("instruction_count") > 0) | (pl.col("state_count") >= 3))
    columns = [*PLACE, "end_cycles", "instruction_count", "state_count"]
    assert_frame_equal(again.waves.select(columns).sort(PLACE), kept.select(columns).sort(PLACE))
    engines = again.waves["se"].to_list()
    assert engines == sorted(engines)
    lives = [
        trace.states.join(trace.waves.select("wave", *PLACE), on="wave", maintain_order="left")
        .join(kept.select(PLACE), on=PLACE, how="semi", maintain_order="left")
        .sort(PLACE, maintain_order=True)
        .drop("wave")
        for trace in (again, original)
    ]
    assert_frame_equal(*lives)


@pytest.mark.first_case
def test_kernels_of_waves(original: ThreadTrace, again: ThreadTrace) -> None:
    named = [
        trace.waves.filter(pl.col("instruction_count") > 0)
        .join(trace.kernels.select("kernel", "name"), on="kernel", how="left")
        .select(*PLACE, "name")
        .sort(PLACE)
        for trace in (again, original)
    ]
    assert_frame_equal(*named)


@pytest.mark.first_case
def test_waits(original: ThreadTrace, again: ThreadTrace) -> None:
    resolved = [
        trace.waits.select(
            trace.instructions["time_cycles"].gather(trace.waits["instruction"]).alias("wait"),
            trace.instructions["time_cycles"].gather(trace.waits["producer"]).alias("producer"),
            "counter",
        ).sort(pl.all())
        for trace in (again, original)
    ]
    assert_frame_equal(*resolved)


@pytest.mark.some_cases(5)
@together("table", ALWAYS)
def test_streams(table: str, original: ThreadTrace, again: ThreadTrace) -> None:
    keys = [name for name in ("se", "cu") if name in original.table(table).columns]
    expected = original.table(table)
    assert_frame_equal(again.table(table).sort(keys, maintain_order=True), expected.sort(keys, maintain_order=True))
    is_recorded = {"sampled_counters": original.gfxip == 9, "other_simd": original.gfxip > 10}.get(table, True)
    assert bool(expected.height) == is_recorded


@pytest.mark.some_cases(5)
def test_occupancy_events_and_dispatches(original: ThreadTrace, again: ThreadTrace) -> None:
    columns = ["se", "time_cycles", "cu", "simd", "slot", "start", "code_object", "address"]
    extended = bool(again.events.height)
    if extended:
        columns += ["me", "pipe", "is_ext", "workgroup", "cluster"]
        assert_frame_equal(by_time(again.events), by_time(original.events))
        assert_frame_equal(by_time(again.dispatches.drop("kernel")), by_time(original.dispatches.drop("kernel")))
    assert_frame_equal(again.occupancy.select(columns), original.occupancy.select(columns))


def by_time(events: pl.DataFrame) -> pl.DataFrame:
    return events.sort("se", "time_cycles", maintain_order=True)


def test_nothing_is_lost_or_contradicts(again: ThreadTrace) -> None:
    assert set(again.losses["kind"].to_list()) <= {"unresolved_pcs"}
    assert again.stored_totals.height
    assert differing_row_count(again) == 0


@pytest.mark.parametrize("generation", ["gfx9", "gfx11", "gfx12"])
def test_markers(generation: str, tmp_path: Path) -> None:
    stream = Stream(generation)
    stream.load()
    stream.start()
    for marker, flags in ((1, 2), (2, 2), (3, 0), (0, 1), (2, 3), (99, 2), (0, 1)):
        stream.mark(marker, flags)
    stream.end()
    stream.start(slot=1)
    stream.mark(2, 2, slot=1)
    stream.value(14, slot=1, privileged=True)
    stream.mark(0, 1, slot=1)
    stream.end(slot=1)
    trace = marked(stream)
    assert trace.markers.height in (8, 9)  # not every generation tells what the trap handler wrote
    again = read_ui_output(Directory(write_ui_output(trace, tmp_path, schema="3.1")))
    assert_frame_equal(again.markers, trace.markers)


def marked(stream: Stream) -> ThreadTrace:
    program = _core.Program()
    program.add_funcmap(OBJECT, NAMES)
    program.link()
    records = _core.decode([stream.bytes()], program, threads=1)
    core_tables = assemble.tables_of(records, [0])
    entries = assemble.entries_of(core_tables)
    tables = assemble.with_kernel_numbers(core_tables, entries)
    tables["shader_engines"] = assemble.shader_engine_frame(records, [0], ["se0.att"])
    tables["markers"] = with_marker_names(core_tables["markers"], program)
    return ThreadTrace(tables, TraceSource(path="made"))
