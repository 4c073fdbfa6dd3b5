"""Mean cost by kind, lines that collect instructions, lane addresses and the inferred GPU, on real decoded traces."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright
from tests.cli.in_process import call
from wavewright.analysis.code.mix import kind_of
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.model.trace import ThreadTrace

MOE = "data/uiout-mi350x-flydsl/moe_gemm/big/ui_output_agent_56573_dispatch_87"


@pytest.fixture(scope="module")
def moe(shared: Path) -> ThreadTrace:
    trace = wavewright.open(shared / MOE)
    assert isinstance(trace, ThreadTrace)
    return trace


def test_kinds_add_up_and_cost_what_their_instructions_do(moe: ThreadTrace) -> None:
    units = hotspots(moe, by="kind").units
    rows = moe.stored_totals.filter(pl.col("hit_count") > 0).join(moe.code.select("row", "class"), on="row")
    expected: dict[str, tuple[int, int]] = {}
    for name, hits, latency in rows.select("class", "hit_count", "latency_cycles_total").iter_rows():
        before = expected.get(kind_of(name), (0, 0))
        expected[kind_of(name)] = before[0] + hits, before[1] + latency
    found = {row["unit"]: (row["hit_count"], row["latency_cycles_total"]) for row in units.iter_rows(named=True)}
    assert found == expected
    matrix = units.row(by_predicate=pl.col("unit") == "matrix", named=True)
    assert matrix["latency_cycles_mean"] == matrix["latency_cycles_total"] / matrix["hit_count"]
    assert 12 < matrix["latency_cycles_mean"] < 15


def test_the_line_of_a_decorator_is_marked(shared: Path) -> None:
    path = next((shared / "data/uiout-mi350x-flydsl/flash_attn_func/big").glob("*38430*"))
    units = hotspots(wavewright.open(path), by="line").units
    assert units.filter("is_collecting")["unit"].to_list() == [units["unit"][0]]
    assert units["line"][0] == 257
    shown = call("hotspots", path, "--by", "line", "--top", 2)
    assert "flash_attn_func.py:257*" in shown.stdout
    assert "decorator" in shown.stdout
    assert "*" not in call("hotspots", shared / MOE, "--by", "kind").stdout


def test_lanes_infer_the_gpu_and_write_addresses(shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "lanes.parquet"
    done = call("lanes", shared / MOE, "--addresses", file)
    assert (done.status, "gfx950" in done.stdout) == (0, True)
    frame = pl.read_parquet(file)
    assert f"wrote {frame.height:,} patterns" in done.stderr
    assert frame.columns[:6] == ["row", "code_address", "text", "file", "line", "execution_count"]
    assert (frame["lane_addresses"].list.len() == 64).all()
    lds = frame.filter(pl.col("text").str.starts_with("ds_read_b128"))
    assert lds.height
    assert (lds["width_bytes"] == 16).all()
    assert call("lanes", shared / MOE, "--addresses", file).status == 2  # what is there stays
