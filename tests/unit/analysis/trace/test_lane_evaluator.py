"""Small programs whose lane addresses are plain to see, run by the evaluator of the core."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.together import together
from wavewright import _core
from wavewright.analysis.code.control_flow import branch_targets

LANES = 64
_LDS = 1


def _evaluated(texts: list[str], path: list[int] | None = None, column: str = "gfx942") -> tuple[bool, list[int], int]:
    """Whether the addresses of the last row, an LDS read, are known; the addresses, and the active lanes."""
    code = pl.DataFrame(
        {
            "row": range(len(texts)),
            "code_object": [1] * len(texts),
            "address": [4 * row for row in range(len(texts))],
            "text": texts,
        },
        schema_overrides={"row": pl.Int32},
    )
    targets = code.select("row").join(branch_targets(code), on="row", how="left")["target_row"].fill_null(-1)
    reads = [_LDS if text.startswith("ds_read_b32") else 0 for text in texts]
    rows = {
        "target_row": targets.cast(pl.Int32),
        "space": pl.Series(reads, dtype=pl.UInt8),
        "direction": pl.Series([0] * len(texts), dtype=pl.UInt8),
        "width_bytes": pl.Series([4] * len(texts), dtype=pl.UInt8),
        "lds_rule": pl.Series([-1] * len(texts), dtype=pl.Int32),
        "has_segments": pl.Series([0] * len(texts), dtype=pl.UInt8),
    }
    evaluator = _core.LaneEvaluator(
        texts=texts,
        rows=rows,
        column=column,
        lds_rules=[],
        group_lanes=0,
        segment_bytes=0,
        pointer_bytes=256,
        lane_count=LANES,
    )
    start = _core.WaveStart(
        registers=[],
        regions=[],
        workgroup=(LANES, 1, 1),
        workgroups=(0, 0, 0),
        packed_ids=True,
        id_registers=1,
        lane_count=LANES,
    )
    steps = pl.Series(path or range(len(texts)), dtype=pl.Int32)
    answer = evaluator.run(start, 0, steps, 0, keeps_executions=True)
    last = pl.DataFrame(answer["executions"]).row(-1, named=True)
    addresses = pl.DataFrame(answer["execution_addresses"])["address"].to_list()[-LANES:]
    return bool(last["is_known"]), addresses, last["active"]


def _relative(addresses: list[int]) -> list[int]:
    return [address - addresses[0] for address in addresses]


def test_lanes_by_an_unknown_number_keep_their_distances() -> None:
    is_sure, addresses, _ = _evaluated(["s_lshl_b32 s0, s8, 8", "v_lshl_add_u32 v1, v0, 2, s0", "ds_read_b32 v2, v1"])
    assert is_sure
    assert _relative(addresses) == [4 * lane for lane in range(LANES)]


@pytest.mark.parametrize(("table", "sources"), [(0xEA, "v0, 63, s0"), (0xEC, "v0, s0, 63"), (0xF8, "s0, v0, 63")])
def test_a_fused_and_or_keeps_distances_of_lanes(table: int, sources: str) -> None:
    """(a & b) | c, (a & c) | b and (b & c) | a with the unknown number in the place of the last."""
    texts = ["s_lshl_b32 s0, s8, 8", f"v_bitop3_b32 v1, {sources} bitop3:{table:#x}", "ds_read_b32 v2, v1"]
    is_sure, addresses, _ = _evaluated(texts, column="gfx950")
    assert is_sure
    assert _relative(addresses) == list(range(LANES))


@pytest.mark.parametrize("operation", ["or", "xor", "and"])
def test_a_choice_between_two_numbers_does_not_make_lanes_alike(operation: str) -> None:
    texts = ["s_cmp_lt_u32 s8, 7", "s_cselect_b32 s0, 16, 5", f"v_{operation}_b32_e32 v1, s0, v0", "ds_read_b32 v2, v1"]
    is_sure, _, _ = _evaluated(texts)
    assert not is_sure


def test_a_branch_decides_a_choice() -> None:
    texts = [
        "s_cmp_lt_u32 s8, 7",
        "s_cselect_b32 s0, 64, 0",
        "s_cbranch_scc1 1",
        "s_mov_b32 s9, 0",
        "v_lshl_or_b32 v1, v0, 7, s0",
        "ds_read_b32 v2, v1",
    ]
    taken, not_taken = _evaluated(texts, [0, 1, 2, 4, 5]), _evaluated(texts, [0, 1, 2, 3, 4, 5])
    assert [taken[1][0], not_taken[1][0]] == [64, 0]
    assert taken[0]
    assert not_taken[0]


def test_a_mask_that_all_lanes_share_is_all_or_none() -> None:
    texts = [
        "v_mov_b32_e32 v3, s8",
        "v_cmp_gt_u32_e32 vcc, 9, v3",
        "s_and_saveexec_b64 s[2:3], vcc",
        "s_cbranch_execz 2",
        "v_lshlrev_b32_e32 v1, 2, v0",
        "ds_read_b32 v2, v1",
    ]
    is_sure, _, active = _evaluated(texts)
    assert is_sure
    assert active == (1 << LANES) - 1


def test_lanes_that_an_unknown_mask_leaves_out_are_not_known() -> None:
    texts = [
        "v_lshlrev_b32_e32 v1, 2, v0",
        "v_cmp_gt_u32_e32 vcc, s8, v0",
        "s_and_saveexec_b64 s[2:3], vcc",
        "ds_read_b32 v2, v1",
    ]
    assert not _evaluated(texts)[0]


def test_registers_of_an_unknown_instruction_are_not_known() -> None:
    assert not _evaluated(["v_lshlrev_b32_e32 v1, 2, v0", "v_no_such_thing v9, v9", "ds_read_b32 v2, v1"])[0]
    assert not _evaluated(["v_lshlrev_b32_e32 v1, 2, v0", "v_exp_f32_e32 v1, v1", "ds_read_b32 v2, v1"])[0]


def test_low_bits_of_a_sum_with_an_unknown_multiple_are_known() -> None:
    texts = [
        "s_lshl_b32 s0, s8, 10",
        "v_lshl_add_u32 v1, v0, 4, s0",
        "v_and_b32_e32 v1, 0x3f0, v1",
        "ds_read_b32 v2, v1",
    ]
    is_sure, addresses, _ = _evaluated(texts)
    assert is_sure
    assert addresses == [16 * lane % 1024 for lane in range(LANES)]


def test_bits_that_carries_reach_are_not_known() -> None:
    texts = ["v_add_u32_e32 v1, s8, v0", "v_and_b32_e32 v1, 0xfc, v1", "ds_read_b32 v2, v1"]
    assert not _evaluated(texts)[0]


def test_a_row_that_the_code_cannot_reach_ends_the_evaluation() -> None:
    texts = ["v_lshlrev_b32_e32 v1, 2, v0", "v_mov_b32_e32 v1, 0", "ds_read_b32 v2, v1"]
    assert not _evaluated(texts, [0, 2])[0]


@together("operand", ["|", "|v1", "-|", "-" * 300_000, "-sext(" * 200_000])
def test_texts_that_nest_without_end_are_unknown(operand: str) -> None:
    """Texts come from files of strangers: half of a pair of bars, and signs in any number, are no operand."""
    is_known, _, _ = _evaluated([f"v_add_f32 v0, {operand}, v2", "ds_read_b32 v1, v0"])
    assert not is_known
