from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.together import together
from tests.unit.analysis.trace.test_resident_waves import trace_of
from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.analysis.trace.occupancy import Occupancy, occupancy, theoretical
from wavewright.analysis.trace.selection import Selection
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.codeobj.targets import family_of
from wavewright.errors import UsageError
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.words.trace.occupancy import occupancy_report
from wavewright.writers.terminal.blocks import plain_text


def _rows(table: str, *rows: dict[str, object]) -> pl.DataFrame:
    schema = dict(empty_frame(THREAD_TRACE[table]).schema)
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in schema}, schema=schema)


def _trace(
    kernel: dict[str, object], texts: list[str], *, waves: int = 2, target: str | None = "gfx950", gfxip: int = 9
) -> ThreadTrace:
    """A kernel `k` with code, and `waves` waves on one SIMD at a time."""
    made = trace_of({(0, 1, 0, slot): [(10, True), (110, False)] for slot in range(waves)})
    code = [{"row": row, "function": "k", "text": text, "mnemonic": text.split()[0]} for row, text in enumerate(texts)]
    tables = {
        "kernels": _rows("kernels", {"kernel": 0, "name": "k", "demangled": "k()"} | kernel),
        "code": with_operands(classify_frame(_rows("code", *code), target), target),
        "occupancy": made.occupancy,
        "shader_engines": _rows("shader_engines", {"se": 0, "gfxip": gfxip}),
    }
    return ThreadTrace(tables, TraceSource(path="made", target=target, format="ui_output"))


_FLASH = {"vgprs": 124, "agprs": 0, "sgprs": 112, "lds_bytes": 49152, "workgroup_size": 256, "wave_size": 64}


def test_half_of_the_registers_in_the_metadata_of_gfx950() -> None:
    answer = occupancy(_trace(_FLASH, ["v_mov_b32_e32 v241, v0"]))
    row = answer.kernels.row(0, named=True)
    assert (row["vgprs"], row["waves_per_simd_limit"], row["bound_by"]) == (248, 2, "VGPR")
    assert (row["waves_per_simd_max"], row["waves_per_simd_mean"], row["limit_share"]) == (2, 2.0, 1.0)
    assert row["registers_from"] == "metadata (doubled)"
    assert any("half" in note for note in answer.notes)
    assert answer.limiters.filter(limiter="VGPR")["next_at_most"][0] == 168
    for table, spec in answer.tables.items():
        assert getattr(answer, table).columns == [column.name for column in spec.columns]


def test_a_wrong_split_of_the_registers_does_not_change_their_sum() -> None:
    """rocprofv3 keeps five of the six bits of the accumulation offset: 256 and 256 become 128 and 384."""
    texts = ["v_mov_b32_e32 v250, v0", "v_accvgpr_read_b32 v1, a249"]
    row = occupancy(_trace(_FLASH | {"vgprs": 128, "agprs": 384}, texts, waves=1, target="gfx942")).kernels.row(
        0, named=True
    )
    assert row["vgprs"] + row["agprs"] == 512
    assert row["waves_per_simd_limit"] == 1


@together(
    "told, named, expected",
    [
        (124, 242, 248),  # less than the code names: half
        (132, 120, 264),  # no allocation is a multiple of 4 only: half, of more than the code names
        (128, 120, 128),  # possible, so believed
        (96, 200, 200),  # twice of it would still be too little: the code is believed
    ],
)
def test_when_the_metadata_of_gfx950_is_half(told: int, named: int, expected: int) -> None:
    answer = occupancy(_trace(_FLASH | {"vgprs": told}, [f"v_mov_b32_e32 v{named - 1}, v0"]))
    assert answer.kernels["vgprs"][0] == expected
    elsewhere = occupancy(_trace(_FLASH | {"vgprs": told}, [f"v_mov_b32_e32 v{named - 1}, v0"], target="gfx942"))
    assert elsewhere.kernels["vgprs"][0] == max(told, named)


@together(
    "text, is_executed, expected",
    [
        ("ds_read_b128 v[4:7], v1", True, None),
        ("buffer_load_dwordx4 v1, s[0:3], 0 offen lds", True, None),
        ("ds_read_b128 v[4:7], v1", False, 0),  # a path that no wave took
        ("ds_bpermute_b32 v4, v5, v6", True, 0),  # moves registers between lanes: needs no LDS
        ("global_load_dwordx4 v[4:7], v1, s[0:1]", True, 0),
    ],
)
def test_lds_of_0_bytes_is_not_believed_of_code_that_uses_lds(
    text: str, is_executed: bool, expected: int | None
) -> None:
    trace = _trace(_FLASH | {"lds_bytes": 0}, [text, "s_nop 0"])
    row = 0 if is_executed else 1
    trace.tables["instructions"] = _rows(
        "instructions",
        {"wave": 0, "time_cycles": 20, "stall_cycles": 0, "duration_cycles": 4, "category": 5, "row": row},
    )
    answer = occupancy(trace)
    assert answer.kernels["lds_bytes"][0] == expected
    assert any("LDS size not known" in note for note in answer.notes) == (expected is None)
    assert occupancy(trace, override=Resources(lds_bytes=4096)).kernels["lds_bytes"][0] == 4096


def test_more_waves_than_fit_are_called_wrong() -> None:
    answer = occupancy(_trace(_FLASH, ["v_mov_b32_e32 v241, v0"], waves=3))
    assert any(note.startswith("WRONG: k(): 3 waves") for note in answer.notes)
    assert answer.kernels["limit_share"].to_list() == [None]  # no share of a limit that is not to be trusted


def test_accumulation_registers_that_the_code_does_not_name_share_the_file() -> None:
    answer = occupancy(_trace(_FLASH | {"vgprs": 128, "agprs": 120}, ["v_mov_b32_e32 v241, v0"]))
    row = answer.kernels.row(0, named=True)
    assert (row["vgprs"], row["agprs"], row["waves_per_simd_limit"]) == (248, 0, 2)
    named = occupancy(_trace(_FLASH | {"vgprs": 128, "agprs": 120}, ["v_accvgpr_read_b32 v1, a119"]))
    row = named.kernels.row(0, named=True)
    assert (row["vgprs"], row["agprs"]) == (128, 120)


def test_options_win_over_the_trace() -> None:
    answer = occupancy(_trace(_FLASH, ["v_mov_b32_e32 v241, v0"]), override=Resources(vgprs=64, lds_bytes=0))
    row = answer.kernels.row(0, named=True)
    assert (row["vgprs"], row["lds_bytes"], row["waves_per_simd_limit"], row["bound_by"]) == (64, 0, 7, "SGPR")
    assert row["registers_from"] == "options"


def test_without_metadata_the_code_decides_and_what_is_unknown_is_said() -> None:
    answer = occupancy(_trace({}, ["v_mov_b32_e32 v241, s99"]))
    assert answer.kernels["waves_per_simd_limit"][0] == 2
    assert answer.kernels["sgprs"][0] == 106
    assert "not known, so not counted: LDS, workgroup size" in answer.notes


@together(
    "target, kernel, texts, expected",
    [
        ("gfx950", {}, ["v_mov_b32_e32 v11, s5"], (136, 0, 112, "dispatch")),
        ("gfx950", {}, ["v_accvgpr_read_b32 v11, a31"], (12, 124, 112, "dispatch")),  # the allocation holds both kinds
        ("gfx942", {}, [], (136, 0, 112, "dispatch")),
        ("gfx942", {}, ["v_mov_b32_e32 v199, s5"], (200, 0, 112, "code and dispatch")),
        ("gfx950", {"vgprs": 64, "sgprs": 32}, ["v_mov_b32_e32 v11, s5"], (64, 0, 32, "metadata")),
        ("gfx908", {}, ["v_mov_b32_e32 v11, s5"], (12, 0, 12, "code")),  # counted in granules of another size
    ],
)
def test_a_dispatch_tells_the_registers_that_no_metadata_tells(
    target: str, kernel: dict[str, object], texts: list[str], expected: tuple[int, int, int, str]
) -> None:
    """As in directories of schema 3.1, without files beside them."""
    trace = _trace(kernel, texts, waves=1, target=target)
    launch = {"se": 0, "kernel": 0, "vgprs": 136, "sgprs": 112, "lds_bytes": 40960}
    sizes = {f"workgroup_size_{axis}": size for axis, size in zip("xyz", (256, 1, 1), strict=True)}
    trace.tables["dispatches"] = _rows("dispatches", launch | sizes)
    row = occupancy(trace).kernels.row(0, named=True)
    assert (row["vgprs"], row["agprs"], row["sgprs"], row["registers_from"]) == expected


def test_without_registers_nothing_is_claimed() -> None:
    answer = occupancy(_trace({}, []))
    row = answer.kernels.row(0, named=True)
    assert (row["waves_per_simd_limit"], row["bound_by"], row["waves_per_simd_max"]) == (None, None, 2)
    assert any("registers are not known" in note for note in answer.notes)


@together(
    "text, expected, certain",
    [
        ("v_bitop3_b32 v0, v1, v2, v3", "gfx950", True),
        ("v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", "gfx950", True),
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "gfx942", False),
        ("v_lshl_add_u64 v[0:1], v[2:3], 1, v[4:5]", "gfx942", False),
        ("v_pk_fma_f32 v[0:1], v[0:1], v[0:1], v[0:1]", "gfx90a", False),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "gfx908", False),
        ("s_endpgm", "gfx942", False),
    ],
)
def test_the_architecture_is_inferred_only_when_nobody_says_it(text: str, expected: str, certain: bool) -> None:
    guessed = architecture(_trace({}, [text], target=None))
    assert (guessed.facts.target, guessed.is_certain) == (expected, certain)
    assert architecture(_trace({}, [text], target="gfx90a")).facts.target == "gfx90a"
    assert architecture(_trace({}, [text], target="gfx90a"), "MI300A").facts.product.name == "MI300A"


def test_a_gpu_that_contradicts_the_capture_is_said() -> None:
    answer = occupancy(_trace(_FLASH, ["v_mov_b32_e32 v241, v0"]), gpu="MI300X")
    assert "the capture says gfx950, but gfx942 was asked for" in answer.notes


def test_without_occupancy_events_the_limits_remain() -> None:
    trace = _trace(_FLASH, ["v_mov_b32_e32 v241, v0"])
    trace.tables["occupancy"] = trace.occupancy.clear()
    row = occupancy(trace).kernels.row(0, named=True)
    assert (row["waves_per_simd_limit"], row["waves_per_simd_max"]) == (2, None)


def test_a_guess_is_said() -> None:
    sure = occupancy(_trace(_FLASH, ["v_bitop3_b32 v0, v1, v2, v3"], target=None))
    assert "inferred from `v_bitop3_b32`" in sure.notes[0]
    assert "--target" not in sure.notes[0]
    unsure = occupancy(_trace(_FLASH, ["s_endpgm"], target=None))
    assert not unsure.target_is_certain
    assert "--target" in unsure.notes[0]


def test_nothing_known_about_the_gpu_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(UsageError) as caught:
        occupancy(_trace({}, ["s_endpgm"], target=None, gfxip=0))
    assert "--target" in caught.value.advice


def test_resources_that_the_gpu_cannot_give_are_a_note() -> None:
    answer = occupancy(_trace(_FLASH | {"lds_bytes": 100_000}, ["v_mov_b32_e32 v9, v0"], target="gfx942"))
    assert answer.kernels["waves_per_simd_limit"][0] is None
    assert any("100,000 bytes of LDS are more than gfx942 can give" in note for note in answer.notes)


def test_kernels_and_engines_can_be_chosen() -> None:
    trace = _trace(_FLASH, ["v_mov_b32_e32 v241, v0"])
    with pytest.raises(UsageError, match="no wave matches") as caught:
        occupancy(trace, selection=Selection(kernel="other"))
    assert "k()" in caught.value.advice
    with pytest.raises(UsageError):
        occupancy(trace, selection=Selection(shader_engines=(3,)))
    assert occupancy(trace, selection=Selection(kernel="k(")).kernels.height == 1


@pytest.mark.first_case
@pytest.mark.parametrize(("gpu", "wave_size"), [("gfx942", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1201", 32)])
def test_synthetic_captures(gpu: str, wave_size: int, tmp_path: Path) -> None:
    kernel = compiled("tiled_gemm", gpu)
    family = family_of(gpu)
    assert family is not None
    write_capture(synthesize(Scenario(family=family, kernels=(kernel,), shader_engines=2)), tmp_path)
    answer = occupancy(wavewright.open(tmp_path))
    assert (answer.target, answer.target_origin) == (gpu, "from the capture")
    row = answer.kernels.row(0, named=True)
    assert row["wave_size"] == wave_size
    assert row["waves_per_simd_limit"] is not None
    assert row["waves_per_simd_max"] >= 1
    assert answer.engines.height == 2
    assert any("WGP mode" in note for note in answer.notes) == (gpu != "gfx942")


def test_what_binds_together() -> None:
    tied = theoretical("gfx942", Resources(vgprs=120, lds_bytes=16384, workgroup_size=256)).limiters
    assert tied.filter(pl.col("is_binding"))["limiter"].to_list() == ["VGPR", "LDS"]
    free = theoretical("gfx942", Resources(vgprs=8, lds_bytes=0, workgroup_size=256)).limiters
    assert free.filter(pl.col("is_binding"))["limiter"].to_list() == ["hardware"]


def test_the_next_step_of_a_small_grid_names_the_resources_behind_it() -> None:
    kernel = {"vgprs": 120, "agprs": 0, "sgprs": 48, "lds_bytes": 16384, "workgroup_size": 256, "wave_size": 64}
    text = _printed(occupancy(_trace(kernel, ["v_mov_b32_e32 v119, v0"], waves=2, target="gfx942")))
    assert "all waves were there at once: 2 more per SIMD fit, if the grid had them; beyond that, 5 waves" in text
    assert "VGPR ≤ 96 registers (free 24) and LDS ≤ 12,800 bytes (free 3,584)" in text
    unknown = _printed(occupancy(_trace(kernel | {"lds_bytes": None}, ["v_mov_b32_e32 v119, v0"], target="gfx942")))
    assert "if the grid had them and what is not known (LDS) allows them" in unknown


def _printed(answer: Occupancy) -> str:
    return plain_text(occupancy_report(answer, (), limit=5), 400)


def test_the_calculator_needs_no_trace() -> None:
    answer = theoretical("MI300X", Resources(vgprs=144, agprs=136, sgprs=112, lds_bytes=12800, workgroup_size=256))
    assert dict(answer.limiters.select("limiter", "waves_per_simd").rows()) == {
        "VGPR": 1, "LDS": 5, "SGPR": 7, "workgroup": 8, "hardware": 8,
    }  # fmt: skip
    assert answer.limiters.filter(limiter="VGPR")["next_at_most"][0] == 256
