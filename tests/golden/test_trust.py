"""Coverage, source mapping and barriers of real directories, against figures that were computed by hand."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

import wavewright
from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.code.wave_paths import early_waves
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.model.trace import ThreadTrace


@lru_cache(maxsize=4)
def opened(shared: Path, kernel: str, part: str = "", size: str = "big") -> ThreadTrace:
    folder = shared / "data" / "uiout-mi350x-flydsl" / kernel / size
    (path,) = (path for path in folder.iterdir() if part in path.name and path.name.startswith("ui_output"))
    return wavewright.open(path)


def names(trace: ThreadTrace) -> set[str]:
    return {caveat.name for caveat in trust_of(trace).caveats}


def test_flash_before_the_location_fix(shared: Path) -> None:
    trace = opened(shared, "flash_attn_func", "38430")
    found = mapping(trace)
    assert (found.mapped_row_count, found.row_count) == (2069, 2069)
    top, second = (found.lines.row(at, named=True) for at in (0, 1))
    assert (top["line"], top["row_count"], round(top["row_share"], 3)) == (257, 1895, 0.919)
    assert (second["line"], second["row_count"], round(second["row_share"], 3)) == (283, 130, 0.063)
    assert found.files["row_count"].to_list() == [2062, 7]
    assert found.files["line_count"].to_list() == [6, 1]
    assert round(found.top_line_share, 4) == 0.7615
    assert round(found.effective_line_count, 2) == 2.01
    assert "coarse_lines" in names(trace)
    assert round(coverage(trace).executed_share, 2) == 0.92


def test_flash_after_the_location_fix(shared: Path) -> None:
    found = mapping(opened(shared, "flash_attn_func", "55287"))
    assert round(found.top_line_share, 4) == 0.4891
    assert round(found.effective_line_count, 2) == 8.24
    assert found.files["line_count"].max() == 30


def test_early_exits_and_working_waves(shared: Path) -> None:
    trace = opened(shared, "pa")
    seen = coverage(trace)
    assert (seen.wave_count, seen.early_exit_wave_count, seen.all_wave_count) == (56, 48, 512)
    assert seen.paths["distinct_row_count"].to_list() == [936, 12]
    assert {"early_exits", "unlike_other_cus"} <= names(trace)
    assert trust_of(trace).cycles == "use with caution"
    assert early_waves(trace).len() == 48


def test_debug_lines_do_not_spoil_the_cycles(shared: Path) -> None:
    trust = trust_of(opened(shared, "flash_attn_func", "38430"))
    assert trust.lines == "coarse"
    assert trust.caveats_of_lines[0].severity == "care"
    assert "coarse_lines" not in {caveat.name for caveat in trust.caveats_of_cycles}


@pytest.mark.parametrize(
    ("gpu", "sentence"),
    [
        ("gfx1100", "20 of 30 waves have no traced instructions (SE 2, 3, 4, 5)"),
        ("gfx1200", "16 of 32 waves have no traced instructions (SE 2, 3)"),
    ],
)
def test_engines_without_instruction_tokens_are_not_early(shared: Path, gpu: str, sentence: str) -> None:
    trace = wavewright.open(shared / "golden" / gpu / "profile_gemm_run_0")
    assert early_waves(trace).len() == 0
    assert sentence in [caveat.sentence for caveat in trust_of(trace).caveats_of_cycles]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    ("kernel", "count"), [("moe_gemm", 8), ("moe_reduce", 514), ("layernorm", 0), ("flash_attn_func", 0)]
)
def test_waves_that_left_at_once(shared: Path, kernel: str, count: int) -> None:
    """Counted in the wave files: those that end within 20 instructions; all others run at least 170."""
    trace = opened(shared, kernel, "38430" if kernel == "flash_attn_func" else "")
    lengths = trace.instructions.group_by("wave").len()
    short = lengths.filter(pl.col("len") <= 20)["wave"].sort()
    assert short.len() == count
    assert early_waves(trace).sort().to_list() == short.to_list()


def test_uneven_shader_engines(shared: Path) -> None:
    trace = opened(shared, "preshuffle_gemm")
    assert coverage(trace).engines["wave_count"].to_list() == [16, 20, 16, 16]
    assert "uneven_engines" in names(trace)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("kernel", "caveat"), [("fused_rope_cache", "too_short"), ("moe_gemm", "early_exits"), ("moe_reduce", "few_rows")]
)
def test_what_speaks_against_a_trace(shared: Path, kernel: str, caveat: str) -> None:
    assert caveat in names(opened(shared, kernel))


@pytest.mark.parametrize(
    ("kernel", "part", "groups", "rows"),
    [("flash_attn_func", "38430", 8, 4), ("moe_gemm", "", 4, 4), ("rmsnorm", "", 16, 2), ("hgemm_splitk", "", 2, 5)],
)
def test_workgroups_of_four_waves_are_found(shared: Path, kernel: str, part: str, groups: int, rows: int) -> None:
    found = barriers(opened(shared, kernel, part))
    assert (found.workgroup_count, found.waves_per_workgroup, found.alone_wave_count) == (groups, 4.0, 0)
    assert found.rows.height == rows
    assert 0 < found.lost_cycles_total <= found.stall_cycles_total


def test_why_waves_come_late(shared: Path) -> None:
    causes = barriers(opened(shared, "moe_gemm")).causes
    worst = causes.filter(pl.col("row") == 353).row(0, named=True)
    assert (worst["cause_row"], worst["text"]) == (241, "s_waitcnt vmcnt(7)")
    assert round(worst["excess_cycles_mean"]) == 827


@pytest.mark.parametrize("name", ["c02", "c08"])
def test_raw_and_decoded_barriers_agree(shared: Path, name: str) -> None:
    """A raw s_barrier is two records, a decoded one a single one: the meetings are the same."""
    folder = shared / "data" / "att-mi300x-bmm" / name
    (decoded,) = folder.glob("ui_output_*_dispatch_3")
    raw, official = (barriers(wavewright.open(path, dispatch=3)) for path in (folder / "raw", decoded))
    columns = ("execution_count", "meeting_count", "waves_per_meeting")
    assert raw.rows.sort("row").select(columns).rows() == official.rows.sort("row").select(columns).rows()
    assert raw.lost_cycles_total == pytest.approx(official.lost_cycles_total, rel=0.02)
