from __future__ import annotations

import numpy as np
import pytest

from wavewright.analysis.trace.lanes.fixes import ArrayFixes, Layout, LdsAccessPatterns, find_fixes
from wavewright.facts.lanes import LdsRuleFact, lds_rule

_LANE = np.arange(64)
_ALL = (1 << 64) - 1


def _access(
    operation: str, width_bytes: int, addresses: list[np.ndarray], executions: int = 1, active: int = _ALL, row: int = 0
) -> LdsAccessPatterns:
    rule = lds_rule("gfx942", operation, width_bytes)
    assert isinstance(rule, LdsRuleFact)
    dwords = (np.stack(addresses) // 4).astype(np.uint32)
    count = len(addresses)
    return LdsAccessPatterns(row, rule, dwords, np.full(count, active, np.uint64), np.full(count, executions, np.int64))


def _transposed_tile(executions: int = 1) -> list[LdsAccessPatterns]:
    """A tile of 32x32 floats that waves write by rows and read by columns."""
    rows = [4 * (_LANE + 64 * step) for step in range(16)]
    columns = [4 * (32 * (_LANE % 32) + _LANE // 32 + 2 * step) for step in range(16)]
    return [_access("write", 4, rows, executions), _access("read", 4, columns, executions)]


def _only(arrays: list[ArrayFixes]) -> ArrayFixes:
    (array,) = arrays
    return array


def test_a_column_of_a_tile_needs_one_dword_of_padding_or_a_swizzle() -> None:
    array = _only(find_fixes(_transposed_tile(executions=3)))
    assert (array.first_byte, array.end_byte, array.accesses) == (0, 4096, (0, 1))
    assert array.extra_cycles == 3 * 16 * 62
    assert array.reason == ""
    swizzle, padding, *rest = array.fixes
    assert swizzle.layout == Layout(0, 32, xor_bits=5)
    assert (swizzle.kind, swizzle.extra_cycles, swizzle.removed_cycles) == ("xor", 0, 3 * 16 * 62)
    assert swizzle.added_bytes == 0
    assert padding.layout == Layout(0, 32, padding_dwords=1)
    assert (padding.kind, padding.extra_cycles, padding.removed_cycles) == ("padding", 0, 3 * 16 * 62)
    assert padding.added_bytes == 32 * 4
    assert padding.text == "pad rows of 32 dwords by 1 dword"
    # What costs less LDS than the best padding leaves more cycles.
    assert all(fix.extra_cycles > 0 and fix.added_bytes < padding.added_bytes for fix in rest)
    assert all(2 * fix.removed_cycles >= padding.removed_cycles for fix in rest)


def test_the_cycles_of_a_fix_are_those_of_its_layout() -> None:
    write, read = _transposed_tile()
    array = _only(find_fixes([write, read]))
    for fix in array.fixes:
        assert fix.extra_cycles == sum(fix.extra_cycles_by_access)
        assert fix.removed_cycles == array.extra_cycles - fix.extra_cycles > 0
        for access, cycles in zip((write, read), fix.extra_cycles_by_access, strict=True):
            assert int(access.extra_cycles(fix.layout.moved(access.dwords)[None])[0]) == cycles


def test_padding_keeps_the_alignment_of_the_widest_access() -> None:
    """Rows of 64 bytes, four lanes of 16 bytes each; read down the columns, and by single dwords as well."""
    rows = [64 * (_LANE // 4 + 16 * step) + 16 * (_LANE % 4) for step in range(4)]
    columns = [64 * (_LANE % 16 + 16 * step) + 16 * (_LANE // 16) for step in range(4)]
    dwords = [64 * (_LANE % 16) + 4 * (_LANE // 16)]
    array = _only(find_fixes([_access("write", 16, rows), _access("read", 16, columns), _access("read", 4, dwords)]))
    assert {fix.kind for fix in array.fixes} == {"padding", "xor"}
    for fix in array.fixes:
        assert fix.layout.padding_dwords % 4 == 0
        assert (fix.layout.moved(np.stack(columns).astype(np.uint32) // 4) % 4 == 0).all()


@pytest.mark.parametrize("layout", [fix.layout for fix in _only(find_fixes(_transposed_tile())).fixes])
def test_layouts_keep_dwords_apart(layout: Layout) -> None:
    places = layout.moved(np.arange(1024, dtype=np.uint32))
    assert len(np.unique(places)) == 1024


def test_arrays_are_searched_apart() -> None:
    write, read = _transposed_tile()
    shifted = [_access("write", 4, [4 * _LANE + 8192], row=7)]
    tile, other = find_fixes([*shifted, write, read])
    assert (tile.accesses, other.accesses) == ((1, 2), (0,))
    assert tile.fixes
    assert (other.first_byte, other.end_byte, other.fixes) == (8192, 8448, ())
    assert other.reason == "its accesses take no extra cycles"


def test_a_swizzle_of_a_part_of_a_row_needs_the_rest_of_it() -> None:
    """Dwords 0, 32, ... of rows of 32: the last row has one dword, and a swizzle moves it up to 31 dwords away."""
    column = _access("read", 4, [128 * (_LANE % 32)])
    swizzle = next(fix for fix in _only(find_fixes([column])).fixes if fix.kind == "xor")
    end = swizzle.layout.moved(column.dwords).max() + 1
    assert swizzle.added_bytes >= 4 * (int(end) - (31 * 32 + 1)) > 0


def test_an_array_may_begin_anywhere() -> None:
    write, read = _transposed_tile()
    shift = np.uint32(100)
    moved = [LdsAccessPatterns(a.row, a.rule, a.dwords + shift, a.active, a.executions) for a in (write, read)]
    array = _only(find_fixes(moved))
    assert array.first_byte == 400
    assert [fix.extra_cycles for fix in array.fixes[:2]] == [0, 0]


def test_padding_must_fit_into_lds() -> None:
    kinds = {fix.kind for fix in _only(find_fixes(_transposed_tile(), lds_bytes=65536, lds_bytes_max=65536)).fixes}
    assert kinds == {"xor"}


def test_what_hurts_others_more_is_not_proposed() -> None:
    """Two dwords that any layout can part, and runs of dwords from every start, which any layout tears."""
    pair = _access("read", 4, [128 * _LANE], active=3)
    runs = _access("read", 4, [4 * (_LANE % 32 + start) for start in range(33)], executions=1000)
    assert _only(find_fixes([pair])).fixes[0].removed_cycles == 1
    array = _only(find_fixes([pair, runs]))
    assert (array.extra_cycles, array.fixes) == (1, ())
    assert array.reason == (
        "no padding of 1 to 16 dwords and no XOR swizzle takes fewer cycles for all accesses together"
    )


def test_one_pattern_of_many_decides() -> None:
    """The other 1000 take no extra cycles, so that a sample of all would not show which layouts help."""
    quiet = [4 * (_LANE % 32 + 32 * step) for step in range(1000)]
    column = [128 * (_LANE % 32)]
    array = _only(find_fixes([_access("read", 4, quiet + column)]))
    assert array.extra_cycles == 62
    assert [(fix.kind, fix.removed_cycles) for fix in array.fixes[:2]] == [("xor", 62), ("padding", 62)]


def test_what_helps_little_beside_the_best_is_left_out() -> None:
    """Halves of 16 bytes: rows of 118 dwords, a difference between lanes, would part a few lanes for little LDS."""
    halves = [512 * step + 16 * (_LANE % 32) + 8 * (_LANE // 32) for step in range(4)]
    fixes = _only(find_fixes([_access("write", 8, halves)])).fixes
    assert [(fix.kind, fix.removed_cycles) for fix in fixes] == [("xor", 16), ("padding", 16)]


def test_inactive_lanes_do_not_matter() -> None:
    wild = 4 * _LANE
    wild[40:] = 4 * (1 << 29)
    array = _only(find_fixes([_access("read", 4, [wild], active=(1 << 40) - 1)]))
    assert (array.end_byte, array.extra_cycles) == (160, 0)


def test_no_patterns_have_no_arrays() -> None:
    assert find_fixes([]) == []
    assert find_fixes([_access("read", 4, [4 * _LANE], active=0)]) == []
