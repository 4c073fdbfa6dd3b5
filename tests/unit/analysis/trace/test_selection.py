"""Parts of a trace: what is kept, what is cut, and that sums over parts are the whole."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.together import together
from wavewright import ThreadTrace, UsageError
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.selection import Selection, select, selected_rows


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    kernel = compiled("tiled_gemm", "gfx942")
    scenario = Scenario(kernels=(kernel,), shader_engines=2, workgroups=2, waves_per_workgroup=4, loop_trips=3)
    write_capture(synthesize(scenario), folder)
    return wavewright.open(folder)


def total(trace: ThreadTrace, column: str) -> int:
    return int(row_totals(trace)[column].sum())


@together("column", ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"])
def test_shader_engines_add_up(trace: ThreadTrace, column: str) -> None:
    parts = [select(trace, Selection(shader_engines=(se,))) for se in (0, 1)]
    assert sum(total(part, column) for part in parts) == total(trace, column)
    assert [part.waves["se"].unique().to_list() for part in parts] == [[0], [1]]
    assert parts[0].occupancy["se"].unique().to_list() == [0]


@together("column", ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"])
def test_stretches_of_time_add_up(trace: ThreadTrace, column: str) -> None:
    middle = int(trace.instructions["time_cycles"].median() or 0)
    early = select(trace, Selection(end_cycles=middle))
    late = select(trace, Selection(start_cycles=middle))
    assert 0 < early.instructions.height < trace.instructions.height
    assert total(early, column) + total(late, column) == total(trace, column)


def test_states_are_cut_at_the_ends(trace: ThreadTrace) -> None:
    middle = int(trace.waves["start_cycles"].max() or 0) + 500
    early = select(trace, Selection(end_cycles=middle))
    assert int(early.waves["end_cycles"].max() or 0) <= middle
    for wave in early.waves.iter_rows(named=True):
        lived = early.states.filter(pl.col("wave") == wave["wave"])["duration_cycles"].sum()
        assert abs(lived - (wave["end_cycles"] - wave["start_cycles"])) <= 4  # the reference's timelines round to 4


def test_places_point_at_the_rows_of_the_wave(trace: ThreadTrace) -> None:
    part = select(trace, Selection(waves=(1, 3)))
    assert part.waves["wave"].to_list() == [1, 3]
    for wave in part.waves.iter_rows(named=True):
        rows = part.instructions[wave["first_instruction"] : wave["first_instruction"] + wave["instruction_count"]]
        assert rows["wave"].unique().to_list() == [wave["wave"]]
        states = part.states[wave["first_state"] : wave["first_state"] + wave["state_count"]]
        assert states["wave"].unique().to_list() == [wave["wave"]]


def test_waits_keep_their_producers(trace: ThreadTrace) -> None:
    part = select(trace, Selection(simds=(1,)))
    assert part.waits.height
    assert (part.instructions["row"].gather(part.waits["instruction"]) == part.waits["row"]).all()
    assert (part.instructions["row"].gather(part.waits["producer"]) == part.waits["producer_row"]).all()
    begin = int(part.instructions["time_cycles"].gather(part.waits["producer"]).min() or 0) + 1
    cut = select(trace, Selection(simds=(1,), start_cycles=begin))
    assert cut.waits["producer"].null_count()
    assert cut.waits["producer_row"].null_count() == 0


def test_kernels_by_part_of_the_name(trace: ThreadTrace) -> None:
    assert select(trace, Selection(kernel="gemm")).waves.height == trace.waves.height
    with pytest.raises(UsageError, match="no wave matches"):
        select(trace, Selection(kernel="softmax"))


def test_rows_of_a_line(trace: ThreadTrace) -> None:
    place = trace.code.drop_nulls("line").row(0, named=True)
    rows = selected_rows(trace, Selection(file=Path(place["file"]).name, first_line=place["line"]))
    assert rows is not None
    assert place["row"] in rows
    chains = trace.code.filter(pl.col("row").is_in(rows.implode()))["inline_chain"]
    assert chains.str.contains(f":{place['line']}(?: -> |$)").all()
    with pytest.raises(UsageError, match="no instruction comes from"):
        selected_rows(trace, Selection(file="nowhere.py"))
