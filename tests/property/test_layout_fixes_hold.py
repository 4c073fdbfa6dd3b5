"""What the search for layouts proposes holds, for any patterns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wavewright.analysis.trace.lanes.fixes import LdsAccessPatterns, find_fixes
from wavewright.facts.lanes import LdsRuleFact, lds_rule

_LANES = 64


@st.composite
def _accesses(draw: st.DrawFn) -> LdsAccessPatterns:
    width_bytes = draw(st.sampled_from([2, 4, 8, 16]))
    rule = lds_rule("gfx942", draw(st.sampled_from(["read", "write"])), width_bytes)
    assert isinstance(rule, LdsRuleFact)
    unit = rule.width_dwords
    lane = np.arange(_LANES)
    patterns = []
    for _ in range(draw(st.integers(1, 3))):
        inner = draw(st.sampled_from([1, 2, 4, 8, 16, 32, 64]))
        column, row, first = (draw(st.integers(0, most)) for most in (40, 80, 500))
        patterns.append(unit * (first + (lane % inner) * row + (lane // inner) * column))
    active = draw(st.lists(st.integers(0, (1 << _LANES) - 1), min_size=len(patterns), max_size=len(patterns)))
    executions = draw(st.lists(st.integers(0, 50), min_size=len(patterns), max_size=len(patterns)))
    return LdsAccessPatterns(
        0,
        rule,
        np.stack(patterns).astype(np.uint32),
        np.array(active, np.uint64),
        np.array(executions, np.int64),
    )


@given(st.lists(_accesses(), min_size=1, max_size=3), st.integers(0, 3000))
def test_fixes_take_fewer_cycles_keep_dwords_apart_and_fit(accesses: list[LdsAccessPatterns], room_bytes: int) -> None:
    arrays = find_fixes(accesses, lds_bytes=1000, lds_bytes_max=1000 + room_bytes)
    assert [array.first_byte for array in arrays] == sorted(array.first_byte for array in arrays)
    for array in arrays:
        users = [accesses[position] for position in array.accesses]
        # Lanes that are not active may be anywhere: their costs are 0 in every layout.
        assert array.extra_cycles == sum(int(access.extra_cycles_of_patterns().sum()) for access in users)
        assert bool(array.fixes) == (not array.reason)
        places = np.arange(array.first_byte // 4, array.end_byte // 4, dtype=np.uint32)
        for fix in array.fixes:
            assert fix.extra_cycles < array.extra_cycles
            assert fix.removed_cycles == array.extra_cycles - fix.extra_cycles
            assert fix.added_bytes <= room_bytes
            moved = fix.layout.moved(places)
            assert len(np.unique(moved)) == len(places)
            assert 4 * int(moved.min()) >= array.first_byte
            assert 4 * (int(moved.max()) + 1) <= array.end_byte + fix.added_bytes
            for access, cycles in zip(users, fix.extra_cycles_by_access, strict=True):
                assert int(access.extra_cycles(fix.layout.moved(access.dwords)[None])[0]) == cycles
                assert (fix.layout.moved(access.dwords) % access.rule.width_dwords == 0).all()
