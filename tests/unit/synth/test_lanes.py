"""Kernels with chosen lane addresses: captures that follow the true path, and a truth that fits itself and the code."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, family_of, synthesize
from synth.isa import code_graph
from synth.kernels import LANE_KERNELS, LANE_TARGETS
from synth.lanes import LANE_SCHEMA, LaneLaunch, access_rows, label_lines, lane_truth, lane_truths
from synth.lanes.paths import branch_decisions
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

WIDTHS = {  # by the end of the mnemonic
    16: r"(b128|dwordx4)$",
    8: r"(b64|dwordx2)$",
    4: r"(b32|dword|add_u32|atomic_add)$",
    2: r"(u16|b16|ushort|short)$",
    1: r"(u8|b8|ubyte|byte)$",
}
DIRECTIONS = {"atomic": r"_add", "write": r"_(store|write)", "read": r"_(load|read)"}


def _accesses(kernel: str, target: str, number: int = 0) -> dict[str, list[tuple[int, ...]]]:
    """By label: the addresses of each execution (and part) of a wave."""
    addresses: dict[str, list[tuple[int, ...]]] = {}
    for access in LaneLaunch(kernel, target).wave(0, number).accesses:
        addresses.setdefault(access.label, []).append(access.addresses)
    return addresses


@pytest.mark.first_case
@pytest.mark.parametrize("target", LANE_TARGETS)
def test_captures_follow_the_true_path(tmp_path: Path, target: str) -> None:
    """Every marked line is executed by every wave as often as its meaning says, and no other line accesses memory."""
    for truth in lane_truths(tmp_path, targets=(target,)):
        trace = wavewright.open(truth.capture)
        assert isinstance(trace, ThreadTrace)
        assert trace.losses.is_empty()
        assert trace.dispatches.select("^workgroup_size_.$").row(0) == truth.launch.workgroup_size
        assert truth.frame.schema == LANE_SCHEMA
        keys = ["workgroup", "wave", "line", "execution"]
        executed = truth.executed(trace)
        assert executed.select(keys).sort(keys).rows() == (
            truth.frame.filter(pl.col("part") == 0).select(keys).sort(keys).rows()
        )
        assert executed.height > 8 * 10
        rows = access_rows(truth.kernel, target)
        assert {
            label_lines(truth.kernel)[rows[row]] == line for row, line in executed.select("row", "line").rows()
        } == {True}


@pytest.mark.first_case
@pytest.mark.parametrize("target", LANE_TARGETS)
@pytest.mark.parametrize("kernel", LANE_KERNELS)
def test_the_code_has_the_same_accesses(kernel: str, target: str) -> None:
    """Width, direction and space of the instructions, and how many addresses each has."""
    code = code_graph(compiled(kernel, target).listing, family_of(target))
    truth: dict[str, tuple[int, str, str, int]] = {}
    for number in range(4):
        for access in LaneLaunch(kernel, target).wave(0, number).accesses:
            truth[access.label] = access.part + 1, access.space, access.direction, access.width_bytes
    shown = {}
    for row, label in access_rows(kernel, target).items():
        mnemonic = code.rows[row].text.partition(" ")[0]
        space = {"ds": "lds", "flat": "flat"}.get(mnemonic.partition("_")[0], "global")
        width = next(width for width, pattern in WIDTHS.items() if re.search(pattern, mnemonic))
        direction = next(name for name, pattern in DIRECTIONS.items() if re.search(pattern, mnemonic))
        shown[label] = 2 if re.search(r"read2|write2|2addr", mnemonic) else 1, space, direction, width
    assert shown == truth
    only_elsewhere = {"gfx9": {"read_row_share", "read_row_xor_6", "read_dpp8", "read_permlane16", "read_permlanex16"}}
    assert set(label_lines(kernel)) - set(shown) <= only_elsewhere.get(family_of(target), {"read_put_aside"})


@pytest.mark.parametrize("target", LANE_TARGETS)
@pytest.mark.parametrize("kernel", LANE_KERNELS)
def test_addresses_are_aligned_and_inside(kernel: str, target: str) -> None:
    launch = LaneLaunch(kernel, target)
    size = compiled(kernel, target).lds_bytes
    for number in range(launch.waves):
        for access in launch.wave(1, number).accesses:
            lanes = launch.lanes if access.data == "mask" else access.active.bit_count()
            assert len(access.addresses) == (0 if access.data == "address" else lanes)
            assert not [
                address for address in access.addresses if address % access.width_bytes and access.space == "lds"
            ]
            if access.space == "lds" and size and access.addresses:
                assert min(access.addresses) >= 0
                assert max(access.addresses) + access.width_bytes <= size


def test_patterns_as_their_names_say() -> None:
    """Banks of the first 32 lanes of a wave, worked out by hand."""
    addresses = _accesses("lane_strides", "gfx942")

    def banks(label: str) -> int:
        return len({address // 4 % 32 for address in addresses[label][0][:32]})

    assert [banks(f"write_b32_{name}") for name in ("column", "padded_column", "xor_column")] == [1, 32, 32]
    assert [banks(f"read_b32_stride_{stride}") for stride in (16, 128, 124)] == [8, 1, 32]
    assert addresses["read_b32_broadcast"] == [(0,) * 64]
    assert addresses["read2_b32"] == [tuple(range(256, 512, 4)), tuple(range(800, 1056, 4))]
    assert addresses["read_b128_xor"][0][8:12] == (144, 128, 176, 160)
    assert _accesses("lane_strides", "gfx1100", 1)["read_b64_stride_16"][0][:2] == (512, 528)


def test_masks_by_hand() -> None:
    """149 of 256 work-items go on: two waves, 21 lanes of the third, none of the fourth."""
    waves = [LaneLaunch("lane_masks", "gfx942").wave(0, number) for number in range(4)]
    masks = [[access.active for access in wave.accesses if access.label == "write_after_exit"] for wave in waves]
    assert masks == [[(1 << 64) - 1], [(1 << 64) - 1], [(1 << 21) - 1], []]
    loop = [access for access in waves[1].accesses if access.label == "read_own_count"]
    assert [access.active & 0xFF for access in loop] == [0xFF, 0xEE, 0xCC, 0x88]
    assert [access.addresses[0] for access in loop] == [256, 516, 776, 1036]
    assert [len(wave.accesses) for wave in waves] == [53, 45, 45, 2]


def test_arguments_change_the_truth() -> None:
    launches = [LaneLaunch("lane_division", "gfx942", changed_arguments={"columns": columns}) for columns in (7, 12)]
    accesses = [launch.wave(0, 0).accesses for launch in launches]
    changed = {few.label for few, many in zip(*accesses, strict=True) if few.addresses != many.addresses}
    assert changed == {access.label for access in accesses[0] if "columns" in access.needs}


def test_both_workgroups_have_their_addresses(tmp_path: Path) -> None:
    truth = lane_truth(LaneLaunch("lane_pointers", "gfx1201", waves=2), tmp_path)
    first = truth.frame.filter((pl.col("label") == "load_b16") & (pl.col("wave") == 1))
    assert first["addresses"].list.first().to_list() == [64, 64 + 256]
    assert truth.frame["data_dependent"].unique().to_list() == [""]


def test_a_path_that_the_code_does_not_have_is_refused() -> None:
    sequences = LaneLaunch("lane_masks", "gfx942").wave(0, 0).sequences
    with pytest.raises(UsageError, match="no walk"):
        branch_decisions("lane_masks", "gfx942", sequences[1:])
    separate = [*sequences[:-1], sequences[-1]]
    halving = next(labels for labels in sequences if "read_halving" in labels)
    separate.remove(halving)
    separate += [("write_halving",) * 7, ("read_halving",)]
    with pytest.raises(UsageError, match="more than one walk"):
        branch_decisions("lane_masks", "gfx942", separate)


def test_decisions_are_for_every_wave_and_branch() -> None:
    with pytest.raises(UsageError, match="decisions"):
        Scenario(waves_per_workgroup=4, decisions=((True,),))
    with pytest.raises(UsageError, match="no decision"):
        synthesize(Scenario(kernels=(compiled("lane_masks", "gfx942"),), waves_per_workgroup=1, decisions=((False,),)))


@pytest.mark.parametrize("waves", [0, 5])
def test_more_waves_than_start_in_order_are_refused(waves: int) -> None:
    with pytest.raises(UsageError, match="1 to 4 waves"):
        LaneLaunch("lane_data", "gfx942", waves)
