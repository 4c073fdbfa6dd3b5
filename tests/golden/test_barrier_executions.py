"""Barriers of raw MI300X captures against the decodes that AMD's tool wrote beside them: one execution each."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth.isa import Kind
from synth.planted import plant, write_decoded, write_raw
from wavewright.analysis.trace.compare import compare
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.model.trace import ThreadTrace


def opened(path: Path, dispatch: int | None = None) -> ThreadTrace:
    trace = wavewright.open(path, dispatch=dispatch)
    assert isinstance(trace, ThreadTrace)
    return trace


def barrier_hits(trace: ThreadTrace) -> int:
    rows = trace.code.filter(pl.col("text").str.starts_with("s_barrier"))["row"]
    return int(row_costs(trace).filter(pl.col("row").is_in(rows.implode()))["hit_count"].sum())


@pytest.mark.first_case
@pytest.mark.parametrize(("capture", "dispatch"), [("c08", 3), ("c05", 3)])
def test_raw_and_decoded_count_alike(shared: Path, capture: str, dispatch: int) -> None:
    folder = shared / "data" / "att-mi300x-bmm" / capture
    (table,) = folder.glob(f"stats_ui_output_*_dispatch_{dispatch}.csv")
    (directory,) = folder.glob(f"ui_output_*_dispatch_{dispatch}")
    with table.open(newline="") as stream:
        stated = [(row["Instruction"], int(row["Hitcount"])) for row in csv.DictReader(stream)]
    raw, decoded = opened(folder / "raw", dispatch), opened(directory)
    in_csv = sum(hits for text, hits in stated if text.startswith("s_barrier"))
    assert in_csv > 0
    assert barrier_hits(raw) == barrier_hits(decoded) == in_csv
    assert raw.instruction_count == decoded.instruction_count == sum(hits for _, hits in stated)
    difference = compare([raw, decoded])
    assert not difference.units.filter(pl.col("base_hit_count_per_wave") != pl.col("hit_count_per_wave")).height
    assert not difference.standing_out(1).height


def test_our_own_decode_compares_as_equal(shared: Path, tmp_path: Path) -> None:
    raw = opened(shared / "data" / "att-mi300x-bmm" / "c08" / "raw", 3)
    decoded = opened(write_ui_output(raw, tmp_path))
    assert decoded.instruction_count == raw.instruction_count == 9_272
    assert "totals_disagree" not in decoded.losses["kind"].to_list()
    difference = compare([raw, decoded])
    assert not difference.standing_out(1).height
    assert not difference.units.filter(pl.col("base_hit_count_per_wave") != pl.col("hit_count_per_wave")).height


@pytest.mark.parametrize("cause", ["barrier imbalance", "load latency"])
def test_executions_of_made_kernels(tmp_path: Path, cause: str) -> None:
    """Raw captures of the machine model have two records of every barrier; the model knows how often it ran them."""
    execution = plant(cause, "gfx942", "small").planted
    rows = execution.code.rows
    steps = [rows[step[0]] for wave in execution.traced_waves for step in wave.steps]
    barriers = sum(row.kind == Kind.BARRIER for row in steps)
    assert (barriers > 0) == (cause == "barrier imbalance")
    decoded = opened(write_decoded(execution, tmp_path / "decoded"))
    raw = wavewright.decode(write_raw(execution, tmp_path / "raw"))
    assert raw.instructions.height == len(steps) + barriers
    assert barrier_hits(raw) == barrier_hits(decoded) == barriers
    assert raw.instruction_count == decoded.instruction_count == len(steps)
    assert int(row_costs(raw)["hit_count"].sum()) == len(steps)
