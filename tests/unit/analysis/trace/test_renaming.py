"""Instructions that only name other registers, told apart from those that changed."""

from __future__ import annotations

import random
import re

from tests.kit.together import together
from tests.unit.analysis.small_kernels import trace_of
from tests.unit.analysis.trace.test_compare import waves_with
from wavewright.analysis.trace.compare import compare
from wavewright.analysis.trace.compare.units import renamed

KERNEL = [
    "s_load_dwordx4 s[4:7], s[0:1], 0x0",
    "v_lshlrev_b32_e32 v1, 2, v0",
    "s_waitcnt lgkmcnt(0)",
    "global_load_dwordx2 v[2:3], v1, s[4:5]",
    "global_load_dwordx2 v[4:5], v1, s[6:7]",
    "s_waitcnt vmcnt(0)",
    "v_sub_f32_e32 v6, v2, v4",
    "v_fmac_f32_e32 v6, v3, v5",
    "v_cmp_gt_f32_e64 s[8:9], v6, v2",
    "v_cndmask_b32_e64 v6, v6, v4, s[8:9]",
    "global_store_dword v1, v6, s[4:5]",
    "s_endpgm",
]


def with_numbers(texts: list[str], numbers: dict[str, str]) -> list[str]:
    """The texts with other registers: `numbers` names the new one of each."""

    def other(match: re.Match[str]) -> str:
        kind, first, last, single = match.groups()
        number = int(re.sub(r"\D", "", numbers.get(f"{kind}{first or single}", first or single)))
        return f"{kind}{number}" if single else f"{kind}[{number}:{number + int(last) - int(first)}]"

    return [re.sub(r"\b([vs])(?:\[(\d+):(\d+)\]|(\d+))", other, text) for text in texts]


def paired(before: list[str], after: list[str]) -> list[int]:
    rows = range(len(before))
    return renamed(rows, before, rows, after)


def changed(before: list[str], after: list[str]) -> list[int]:
    return [row for row, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]


MOVES = {
    "v1": "v20",
    "v2": "v8",
    "v3": "v9",
    "v4": "v30",
    "v5": "v31",
    "v6": "v1",
    "s4": "s16",
    "s6": "s18",
    "s8": "s4",
}


def test_all_that_differs_in_registers_is_renamed() -> None:
    after = with_numbers(KERNEL, MOVES)
    assert paired(KERNEL, after) == changed(KERNEL, after) == [0, 1, 3, 4, 6, 7, 8, 9, 10]


@together(
    "row, text",
    [
        (6, "v_sub_f32_e32 v6, v4, v2"),  # the other way round
        (7, "v_fmac_f32_e32 v6, v3, v2"),  # reads something else
        (7, "v_fmac_f32_e32 v4, v3, v5"),  # adds to something else, and others then read that
        (8, "v_cmp_gt_f32_e64 s[8:9], v2, v6"),
        (10, "global_store_dword v1, v2, s[4:5]"),
        (1, "v_lshlrev_b32_e32 v1, 3, v0"),  # no register
        (6, "v_sub_f32_e64 v6, v2, -v4"),
        (3, "global_load_dwordx3 v[2:4], v1, s[4:5]"),
    ],
)
def test_a_change_stays_a_change_among_renamed_registers(row: int, text: str) -> None:
    after = with_numbers([*KERNEL[:row], text, *KERNEL[row + 1 :]], MOVES)
    assert row not in paired(KERNEL, after)
    assert row in changed(KERNEL, after)
    assert set(paired(KERNEL, after)) >= {0, 4} - {row}


def test_another_order_does_not_matter() -> None:
    """Loads that changed places: each is matched with its partner, wherever it stands."""
    order = [0, 1, 2, 4, 3, *range(5, len(KERNEL))]
    after = with_numbers(KERNEL, MOVES)
    assert renamed(range(len(KERNEL)), KERNEL, order, after) == changed(KERNEL, after)


def test_what_reads_a_new_instruction_instead_of_an_old_one() -> None:
    """Rows 0 and 1 have no partners; who reads them is renamed, who reads one of them and something common is not."""
    before = ["v_mov_b32_e32 v1, 0", None, "v_add_u32_e32 v2, v1, v0", "v_add_u32_e32 v3, v2, v1"]
    after = [None, "v_and_b32_e32 v9, 1, v0", "v_add_u32_e32 v4, v9, v0", "v_add_u32_e32 v3, v9, v4"]
    assert renamed([0, 2, 3], before, [1, 2, 3], after) == [2]


def test_random_renamings_are_recognized() -> None:
    choose = random.Random(5)
    for _ in range(50):
        names = [f"v{number}" for number in range(1, 7)]
        places = choose.sample(range(10, 120, 2), len(names))
        moves = dict(zip(names, (f"v{number}" for number in places), strict=True))
        moves |= {"v3": f"v{int(moves['v2'][1:]) + 1}", "v5": f"v{int(moves['v4'][1:]) + 1}"}  # halves of pairs
        after = with_numbers(KERNEL, moves)
        assert paired(KERNEL, after) == changed(KERNEL, after)


def test_the_comparison_and_its_words_tell_them_apart() -> None:
    after = with_numbers(KERNEL, MOVES)
    after[1] = "v_lshlrev_b32_e32 v20, 3, v0"
    found = compare([trace_of(texts, waves_with({}, rows=len(KERNEL))) for texts in (KERNEL, after)])
    counts = dict(found.units["change"].value_counts().iter_rows())
    assert counts == {"same": 3, "text": 1, "registers": 8}
    assert found.verdict().endswith("1 instruction changed, 8 with other registers.")
    by_line = compare([trace_of(texts, waves_with({}, rows=len(KERNEL))) for texts in (KERNEL, after)], by="function")
    assert "registers" not in by_line.units["change"].to_list()
