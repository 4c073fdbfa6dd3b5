"""Listings as graphs: kinds, successors, targets, waits."""

from __future__ import annotations

import pytest

from synth import compiled, family_of, tour
from synth.isa import CodeGraph, Kind, code_graph, kind_of
from synth.kernels import BUILDS, LANE_TARGETS, TARGETS
from tests.kit.together import together
from wavewright.errors import UsageError

TOURS = ("gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx1250")


def graph(target: str) -> CodeGraph:
    return code_graph(tour(target).listing, family_of(target))


@together(
    "text, family, kind",
    [
        ("s_memtime s[0:1]", "gfx9", Kind.SALU),
        ("s_and_saveexec_b64 s[0:1], vcc", "gfx9", Kind.SALU_EXEC),
        ("s_mov_b32 exec_lo, s3", "gfx11", Kind.SALU_EXEC),
        ("s_add_f32 s0, s1, s2", "gfx12", Kind.SALU_FLOAT),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3]", "gfx9", Kind.MATRIX_SCALE),
        ("v_lshlrev_b64 v[0:1], 2, v[2:3]", "gfx9", Kind.VALU_WIDE),
        ("buffer_load_dword v1, off, s[0:3], 0", "gfx9", Kind.BUFFER_LOAD),
        ("buffer_store_b32 v1, off, s[0:3], 0", "gfx11", Kind.BUFFER_STORE),
        ("s_waitcnt_depctr 0xfffe", "gfx10", Kind.IMMED),
        ("s_delay_alu instid0(VALU_DEP_1)", "gfx11", Kind.SKIP),
        ("s_setprio 1", "gfx9", Kind.IMMED),
        ("exp mrt0 v0, v0, v0, v0", "gfx11", None),
        (".long 0x1234", "gfx9", None),
    ],
)
def test_kinds(text: str, family: str, kind: Kind | None) -> None:
    assert kind_of(text, family) == kind


@together("target", TOURS)
def test_the_tour_goes_everywhere(target: str) -> None:
    """Both kernels begin where their entries say, branches land on rows, and the call is resolved."""
    code = graph(target)
    for name in ("tour", "copy"):
        assert code.rows[code.entry_row(tour(target, name).entry)].text.startswith("s_load")
    assert all(row.target >= 0 for row in code.rows if row.kind in (Kind.BRANCH, Kind.JUMP))
    (call,) = [row for row in code.rows if row.text.startswith("s_swap")]
    assert code.rows[call.target].text.startswith("v_rcp_f32")
    assert [row.text for row in code.rows if row.loop_exit] == ["s_cbranch_scc1 2"]


@together("target", TARGETS)
def test_the_compiled_call_is_resolved(target: str) -> None:
    """`divergent` calls a function in front of it, so the address is made with a negative offset."""
    image = compiled("divergent", target)
    code = code_graph(image.listing, family_of(target))
    calls = [row for row in code.rows if row.text.startswith("s_swappc")]
    assert calls
    assert all(0 <= call.target < code.entry_row(image.entry) for call in calls)


@pytest.mark.slow
@together("target", LANE_TARGETS)
def test_every_compiled_instruction_can_be_timed(target: str) -> None:
    for name in [kernel for kernel, built_for in BUILDS if built_for == target]:
        code = code_graph(compiled(name, target).listing, family_of(target))
        unknown = {row.text for row in code.rows if row.kind == Kind.END}
        assert unknown <= {"s_endpgm", "s_code_end"}


def test_trace_data_knows_its_constant() -> None:
    values = [row.operand for row in graph("gfx942").rows if row.kind == Kind.SHADER_DATA]
    assert values == [0x1234]


def test_waits_and_counters() -> None:
    code = code_graph(b"0\t8\tglobal_load_dword v0, v1, s[0:1]\n8\t4\ts_waitcnt vmcnt(0)\n12\t4\ts_endpgm\n", "gfx9")
    assert code.rows[0].counters == ("vmcnt",)
    assert code.rows[1].waits == (("vmcnt", 0),)


@pytest.mark.parametrize("listing", [b"", b"hello\n", b"0\t4\n"])
def test_an_unreadable_listing_is_a_usage_error(listing: bytes) -> None:
    with pytest.raises(UsageError):
        code_graph(listing, "gfx9")
