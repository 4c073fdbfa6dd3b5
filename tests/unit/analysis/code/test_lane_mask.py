"""Rows where every lane that a kernel uses is active: masks that are never written, restored, widened, left partial."""

from __future__ import annotations

import polars as pl

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.code.live import live_rows

_MATRIX = "v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], v[8:11]"  # reads v2 to v5 in all lanes


def live_before_the_second_write(texts: list[str]) -> bool:
    """True if the value that v2 holds before the row `v_mov_b32_e32 v2, 2` is needed later."""
    trace = small_trace(texts, [(0, "VALU", 0, 0, 4)])
    sizes = [8 if text.startswith(("v_mfma", "global_store")) else 4 for text in texts]
    trace.tables["code"] = trace.code.with_columns(
        address=pl.Series([sum(sizes[:row]) for row in range(len(texts))], dtype=pl.UInt64),
        size=pl.Series(sizes, dtype=pl.UInt16),
        code_object=pl.lit(1, pl.UInt64),
    )
    counts = dict(live_rows(trace).select("row", "live_vgprs").iter_rows())
    row = texts.index("v_mov_b32_e32 v2, 2")
    # the padding row before the write counts v2 only if its old value lives
    return bool(counts[row - 1] == counts[row])


def kernel(*between: str, before: tuple[str, ...] = (), behind: tuple[str, ...] = ()) -> list[str]:
    """v2 is written, then written again, then read by a matrix instruction in all lanes."""
    values = [f"v_mov_b32_e32 v{number}, 1" for number in (2, 3, 4, 5, 8, 9, 10, 11)]
    end = ["global_store_dword v0, v8, s[0:1]", "s_endpgm"]
    return [*before, *values, *between, "s_nop 0", "v_mov_b32_e32 v2, 2", *behind, _MATRIX, *end]


def test_a_mask_that_is_never_written_is_full() -> None:
    assert not live_before_the_second_write(kernel())


def test_a_mask_that_is_narrowed_is_not() -> None:
    assert live_before_the_second_write(kernel("s_and_saveexec_b64 s[4:5], vcc"))


def test_a_mask_that_is_saved_and_restored_is_full_again() -> None:
    guarded = ("s_and_saveexec_b64 s[4:5], vcc", "v_mov_b32_e32 v6, 1", "s_or_b64 exec, exec, s[4:5]")
    assert not live_before_the_second_write(kernel(*guarded))
    moved = ("s_mov_b64 s[4:5], exec", "s_and_b64 exec, exec, vcc", "s_mov_b64 exec, s[4:5]")
    assert not live_before_the_second_write(kernel(*moved))


def test_a_saved_mask_that_was_overwritten_restores_nothing() -> None:
    lost = ("s_and_saveexec_b64 s[4:5], vcc", "s_mov_b32 s5, 0", "s_or_b64 exec, exec, s[4:5]")
    assert live_before_the_second_write(kernel(*lost))


def test_lanes_that_are_switched_on_later_keep_their_values() -> None:
    """Reductions write neutral values in all lanes, then the own ones in the active lanes, and read all."""
    restored = ("s_or_saveexec_b64 s[4:5], -1", "v_mov_b32_e32 v2, 0", "s_mov_b64 exec, s[4:5]")
    assert live_before_the_second_write(kernel(*restored, behind=("s_mov_b64 exec, -1",)))
    assert not live_before_the_second_write(kernel("s_mov_b64 exec, -1"))


def test_ways_that_differ_are_not_full() -> None:
    """One way narrows the mask, the other jumps over it."""
    assert live_before_the_second_write(kernel("s_cbranch_scc1 1", "s_and_saveexec_b64 s[4:5], vcc"))
