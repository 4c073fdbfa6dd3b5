"""Meaning of the kernels `lane_*`, line by line, in plain Python: written from their sources, never from their code.

Each function mirrors a file of `synth/kernels/sources`; a label stands behind the source line that it belongs to.
Values are 64-bit here, so that what C keeps in 32, 16 or 8 bits is cut by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from synth.lanes.access import LaneValues, LaneWave

_U32 = 0xFFFFFFFF


def _towards_zero(value: LaneValues, divisor: int) -> LaneValues:
    """Signed division as C does it."""
    quotient: LaneValues = np.sign(value) * np.sign(divisor) * (np.abs(value) // abs(divisor))
    return quotient


def _of_each(value: LaneValues, function: Callable[[int], int]) -> LaneValues:
    return np.array([function(int(number)) for number in value], dtype=np.int64)


def strides(wave: LaneWave) -> None:
    """`lane_strides.hip`."""
    lane = wave.id
    wave.write("write_b8", 1, lane)
    wave.write("write_b8_stride_3", 1, lane * 3 + 1)
    wave.write("write_b16", 2, lane)
    wave.write("write_b16_stride_66", 2, lane * 33)
    wave.write("write_b32", 4, lane)
    wave.write("write_b32_stride_8", 4, lane * 2 + 7)
    wave.write("write_b32_padded_column", 4, lane % 32 * 33 + lane // 32)
    wave.write("write_b32_column", 4, lane % 32 * 32 + lane // 32)
    wave.write("write_b64", 8, lane)
    wave.write("write_b64_stride_24", 8, lane * 3)
    wave.write("write_b128", 16, lane)
    wave.write("write_b128_stride_80", 16, lane * 5 + 2)
    wave.write_two("write2_b32", 4, lane, lane + 100)
    wave.read("read_b8", 1, lane)
    wave.read("read_b8_stride_5", 1, lane * 5 + 3)
    wave.read("read_b16_stride_4", 2, lane * 2 + 1)
    wave.read("read_b16_backwards", 2, 1000 - lane)
    wave.read("read_b32", 4, lane)
    wave.read("read_b32_stride_16", 4, lane * 4)
    wave.read("read_b32_stride_128", 4, lane * 32)
    wave.read("read_b32_stride_124", 4, lane * 31 + 280)
    wave.read("read_b32_shared", 4, lane // 2)
    wave.read("read_b32_broadcast", 4, lane // 64 * 64)
    wave.read("read_b64_part", 8, lane * 16)
    wave.read("read_b64_stride_16", 8, lane * 2)
    wave.read("read_b64_padded", 8, lane % 16 * 17 + lane // 16)
    wave.read("read_b128", 16, lane)
    wave.read("read_b128_stride_64", 16, lane * 4)
    wave.read("read_b128_column", 16, lane % 8 * 8 + lane // 8)
    row, column = lane // 32, lane % 32
    wave.read("read_b32_xor", 4, row * 32 + (column ^ row * 5 % 32))
    wave.write("write_b32_xor_column", 4, column * 32 + (row ^ column))
    wave.read("read_b128_xor", 16, lane // 8 * 8 + (lane ^ lane // 8) % 8)
    wave.read("read_b128_xor_column", 16, lane % 8 * 8 + (lane % 8 ^ lane // 8 % 8))
    wave.read_two("read2_b32", 4, lane + 64, lane + 200)
    wave.read_two("read2st64_b32", 4, lane + 256, lane + 1280)
    wave.read_two("read2_b64", 8, lane * 3, lane * 3 + 1)
    wave.add("add_b32", 4, lane * 2, "lds")
    wave.store("store", 4, lane, "result")


def bits(wave: LaneWave) -> None:
    """`lane_bits.hip`."""
    lane = wave.id
    base, fields, sign = (wave.arguments[name] for name in ("base", "fields", "sign"))
    wave.write("write_reversed", 4, 255 - lane)
    wave.read("read_bit_reversed", 4, _of_each(lane, lambda value: int(f"{value:032b}"[::-1], 2) >> 24))
    wave.read("read_rotated", 4, (lane << 3 | lane >> 5) & 255)
    wave.read("read_rotated_wide", 4, (lane << 27 & _U32 | lane >> 5) >> 24)
    wave.read("read_popcount", 4, _of_each(lane, int.bit_count) * 8 + 1)
    wave.read("read_leading_zeros", 4, (32 - _of_each(lane | 1, int.bit_length)) * 4)
    wave.read("read_trailing_zeros", 4, _of_each(lane | 256, lambda value: (value & -value).bit_length() - 1) * 33)
    wave.read("read_selected", 4, np.where(lane & 4, lane * 3, 500 - lane))
    wave.read("read_clamped", 4, np.clip(lane, 20, 50))
    wave.read("read_hashed", 4, lane * 0x2545 >> 7 & 0xFF)
    wave.read("read_hashed_64", 4, _of_each(lane, lambda value: value * 0x9E3779B97F4A7C15 % (1 << 64) >> 54))
    wave.read("read_product", 4, (lane & 15) * (lane >> 4))
    wave.read("read_fields", 4, ((lane >> 4 & 3) << 6 | (lane & 3) << 4 | lane >> 2 & 3) + lane // 64)
    wave.read("read_bytes", 1, (lane * 0x01010101 >> 8 & 0xFF) + (lane << 8 & 0xF00))
    wave.read("read_sign_extended", 4, (lane % 16 ^ 8) - 8 + 8)
    wave.read("read_distance", 4, np.abs(lane - 40) * 2)
    wave.read("read_saturated", 4, np.maximum(lane - 20, 0) * 5)
    wave.read("read_maximum", 4, np.maximum(lane - 30, -3) + 3)
    # Selector bytes 0 and 1 pick byte 0 of the second operand and byte 1 of the first; 0x0c is zero.
    wave.read("read_byte_permute", 4, (0x07 | (lane * 0x10203 >> 8 & 0xFF) << 8) & 1023)
    wave.read("read_bit_mixed", 4, lane & 0x33 | lane * 7 & 0xCC)
    wave.read("read_gray", 4, (lane ^ lane >> 3) & 127)
    low, high = (lane << 2) + 5 & 0xFFFF, (lane * 3 << 1) + 9 & 0xFFFF
    wave.read("read_packed_sum", 4, low + high)
    wave.read("read_packed_product", 1, (low * 3 - 1 & 0xFFFF) ^ (high * 7 - 2 & 0xFFFF))
    wave.read("read_from_base", 4, lane + base)
    wave.read("read_from_field", 4, lane * 3 + base * 16 + (fields >> 8 & 15))
    wave.read("read_wrapped", 4, (lane + base) & 255, needs="base")
    wave.read("read_xor_argument", 4, lane ^ (fields & 0xFF), needs="fields")
    wave.read("read_shifted_by_argument", 4, lane << (fields & 3), needs="fields")
    wave.read("read_chosen_by_argument", 4, 255 - lane if sign < 0 else lane * 2, needs="sign")
    offset = base if sign < -5 else fields & 63
    wave.read("read_scaled_by_argument", 4, lane * (fields >> 4 & 7) + offset, needs="fields")
    wave.read("read_wide_argument", 4, (fields << 7 | lane) % 512, needs="fields")
    if fields & 1:
        wave.read("read_behind_argument", 4, lane * 9)
    if wave.target.startswith("gfx9"):
        wave.read("read_put_aside", 4, lane * 11)
    wave.store("store", 4, lane * 2 + base, "result")


def masks(wave: LaneWave) -> None:
    """`lane_masks.hip`: the workgroup is 16 work-items wide."""
    x, y, lane = wave.x, wave.y, wave.id
    wave.write("write_transposed", 4, x * 17 + y)
    wave.read("read_padded", 4, y * 17 + x)
    entered = lane < wave.arguments["count"]
    wave.active = entered
    wave.write("write_after_exit", 4, lane)
    wave.active = entered & (lane % 3 == 0)
    wave.write("write_every_third", 4, lane)
    wave.active = entered & (x < 5)
    wave.write("write_left", 4, lane * 2)
    wave.active = entered & (x < 5) & (y % 2 == 1)
    wave.read("read_left_odd", 4, lane * 3)
    wave.active = entered & (x < 5) & (y % 2 == 0)
    wave.write("write_left_even", 8, lane)
    wave.active = entered & (x >= 5)
    wave.read("read_right", 2, lane * 5)
    for k in range(4):
        wave.active = entered & (k <= lane % 4)
        wave.read("read_own_count", 4, k * 64 + lane)
    wave.active = entered
    for k in range(wave.arguments["trips"]):
        wave.write("write_advancing", 4, k * 65 + lane)
        wave.read("read_xor_advancing", 4, (lane ^ k * 4) + k * 32)
    for k in range(4):
        wave.read("read_unrolled", 4, (lane + k) * 9)
    wave.ordered("write_halving", "read_halving")
    for distance in (64, 32, 16, 8, 4, 2, 1):
        wave.active = entered
        wave.write("write_halving", 2, lane * distance)
        wave.active = entered & (lane < distance)
        wave.read("read_halving", 4, lane + distance)
    at, looping = lane + 3, entered
    while looping.any():
        looping = looping & (at % 8 != 0)
        wave.active = looping
        wave.read("read_until_multiple", 4, at)
        at = at + 3
    wave.active = entered & (x % 4 == 0)
    wave.write("write_case_0", 4, lane + 4)
    wave.active = entered & (x % 4 == 1)
    wave.read("read_case_1", 4, lane * 7 + 2)
    wave.active = entered & (x % 4 == 2)
    wave.write("write_case_2", 2, lane)
    wave.active = entered
    if entered.any() and lane[entered][0] == 0:
        wave.read("read_first_wave", 4, lane * 6)
    wave.active = entered & (x == 0)
    wave.store("store_column", 4, y, "result")
    wave.active = entered
    wave.store("store", 4, lane + 64, "result")


def division(wave: LaneWave) -> None:
    """`lane_division.hip`."""
    lane = wave.id
    columns, step, narrow, total = (wave.arguments[name] for name in ("columns", "step", "narrow", "total"))
    wave.write("write_by_7", 4, lane // 7 * 8 + lane % 7)
    wave.read("read_modulo_1000", 4, lane * 1000003 % 1000)
    wave.read("read_by_100000", 4, lane * 77777 // 100000 % 2048)
    wave.read("read_signed_by_6", 4, _towards_zero(lane - 100, 6) + 50)
    wave.read("read_signed_modulo_6", 4, lane - 100 - _towards_zero(lane - 100, 6) * 6 + 6)
    wave.write("write_by_columns", 4, lane // columns + lane % columns * 33, needs="columns")
    wave.read("read_modulo_columns", 4, (lane * 3 + 1) % columns, needs="columns")
    wave.read("read_signed_by_step", 4, _towards_zero(lane - 70, step) + 300, needs="step")
    wave.read("read_by_narrow", 4, lane // narrow * 4 + lane % narrow, needs="narrow")
    wave.read("read_uniform_quotient", 4, total // columns * (lane & 15) + lane // 16, needs="total columns")
    wave.write("write_uniform_remainder", 2, lane * (total % columns) + 3, needs="total columns")
    wave.write("write_uniform_narrow", 4, total // narrow % 64 ^ lane, needs="total narrow")
    wave.store("store_rows", 4, lane // columns * total + lane % columns, "result", needs="columns total")
    wave.store("store_wide_product", 4, lane % 5 * total + lane // 5, "result", needs="total")


def exchange(wave: LaneWave) -> None:
    """`lane_exchange.hip`."""
    ids, lane = wave.id, wave.lane
    value = ids * 5 + 3
    row, in_row = lane // 16 * 16, lane % 16
    quad = lane // 4 * 4

    def quad_permuted(values: LaneValues, control: int) -> LaneValues:
        return values[quad + (control >> lane % 4 * 2 & 3)]

    wave.write("write_by_count", 4, lane)
    wave.read("read_bpermute", 4, value[lane ^ 5])
    wave.read("read_bpermute_wrapped", 4, value[lane * 3 % wave.lanes])
    wave.read("read_permute", 4, value[lane ^ 9])
    wave.read("read_swizzle_xor_1", 4, value[lane ^ 1])
    wave.read("read_swizzle_broadcast", 4, value[lane // 8 * 8])
    wave.read("read_quad_reversed", 4, value[lane ^ 3])
    wave.read("read_shifted_right_zero", 4, np.where(in_row >= 1, np.roll(value, 1), 0))
    wave.read("read_shifted_left_old", 4, np.where(in_row <= 13, np.roll(value, -2), 7))
    wave.read("read_rotated_right_4", 4, value[row + (in_row - 4) % 16])
    wave.read("read_row_mirror", 4, value[row + 15 - in_row])
    wave.read("read_half_mirror", 4, value[lane // 8 * 8 + 7 - lane % 8])
    wave.read("read_sum_of_neighbours", 4, value + value[lane ^ 1])
    # Rows 0 and 2, and of these the banks (quads) 0 and 1, get the id of the lane two further in the quad.
    enabled = (lane // 16 % 2 == 0) & (in_row < 8)
    wave.read("read_masked_rows", 4, np.where(enabled, quad_permuted(ids, 0x4E), value))
    wave.read("read_after_readlane", 4, value[11] + lane)
    wave.read("read_after_readfirstlane", 4, value[0] + lane * 2)
    odd = ids % 3 == 1
    wave.read("read_rank", 4, (np.cumsum(odd) - odd) * 3)
    wave.read("read_count_times_lane", 4, int(odd.sum()) * lane)
    wave.read("read_first_set", 4, int(np.argmax(odd)) + lane * 4)
    if not wave.target.startswith("gfx9"):
        wave.read("read_row_share", 4, value[row + 3])
        wave.read("read_row_xor_6", 4, value[lane ^ 6])
        wave.read("read_dpp8", 4, value[lane // 8 * 8 + (0x053977 >> lane % 8 * 3 & 7)])
        nibbles = 0x89ABCDEF_76543210
        wave.read("read_permlane16", 4, value[row + _of_each(in_row, lambda at: nibbles >> 4 * at & 15)])
        other_row = 16 - row % 32 + lane // 32 * 32
        crossed = 2 << 32 | 1
        wave.read("read_permlanex16", 4, value[other_row + _of_each(in_row, lambda at: crossed >> 4 * at & 15)])
    wave.active = lane % 4 == 2
    wave.read("read_first_active", 4, value[2] + lane)
    wave.read("read_bpermute_masked", 4, value[lane ^ 4])
    wave.active = lane >= 0
    wave.store("store_swapped", 4, ids[lane ^ 1], "result")


def pointers(wave: LaneWave) -> None:
    """`lane_pointers.hip`."""
    lane, ids = wave.id, wave.workgroup * 128 + wave.id
    pitch, shift, size = (wave.arguments[name] for name in ("pitch", "shift", "size"))
    wave.load("load_b32", 4, ids, "source")
    wave.load("load_b32_offset", 4, ids + 300, "source")
    wave.load("load_b8", 1, ids, "source")
    wave.load("load_b16", 2, ids, "source")
    wave.load("load_b16_stride_128", 2, lane * 64, "source")
    wave.load("load_b32_stride_8", 4, lane * 2 + 1, "source")
    wave.load("load_b32_stride_4096", 4, lane * 1024, "source")
    wave.load("load_b32_far", 4, lane * 0x12345678, "source")
    wave.load("load_b32_negative", 4, lane - 40, "source")
    wave.load("load_b32_backwards", 4, lane * -3, "source")
    wave.load("load_b32_pitch", 4, lane * pitch, "source", needs="pitch")
    wave.load("load_b32_wide_pitch", 4, lane * pitch + ids, "source", needs="pitch")
    wave.load("load_b32_tile", 4, lane // 16 * pitch + lane % 16, "source", needs="pitch")
    wave.load("load_b32_shifted", 4, lane + shift, "source")
    wave.load("load_b32_shifted_back", 4, shift * 3 - lane, "source")
    wave.load("load_b64_stride_24", 8, lane * 3, "source")
    wave.load("load_b128", 16, ids, "source")
    wave.load("load_b128_rows", 16, lane % 4 + lane // 4 * 16, "source")
    wave.load("load_b32_loaded_pointer", 4, lane * 2, "rows[0]", space="flat")
    for k in range(size):
        wave.load("load_advancing", 4, lane // 8 * 64 + lane % 8 + 8 * k, "source")
    for k in range(size):
        wave.load("load_advancing_pitch", 1, lane * 4 + pitch * k, "source")
    wave.load("buffer_b32", 4, lane * 3, "source")
    wave.load("buffer_b32_soffset", 4, lane + 4 + pitch, "source")
    wave.load("buffer_b16", 2, lane + pitch // 2, "source")
    wave.load("buffer_b128", 16, lane, "source")
    wave.store("buffer_store_b32", 4, (lane ^ 32) + 16, "result")
    wave.store("store_b16", 2, ids, "result")
    wave.store("store_b128_stride_32", 16, lane * 2, "result")
    wave.active = lane % 2 == 0
    wave.store("store_b32_even", 4, lane * 8 + pitch, "result")
    wave.active = lane >= 0
    wave.add("add_b32", 4, lane * 4, "global", "result")
    wave.store("store_b32", 4, ids, "result")


def data(wave: LaneWave) -> None:
    """`lane_data.hip`, with indices of which the second wave has only even ones, and never 77."""
    lane = wave.id
    wave.load("load_index", 4, lane, "indices")
    wave.load("load_gathered", 4, 0, "source", data="address")
    wave.write("write_before", 4, lane * 3)
    wave.read("read_gathered", 4, 0, data="address")
    wave.read("read_between", 4, lane * 2)
    wave.read("read_index", 4, lane)
    wave.write("write_scattered", 4, 0, data="address")
    if wave.number != 1:
        wave.read("read_data_mask", 4, lane * 5, data="mask")
        wave.store("store_data_mask", 4, lane * 2, "result", data="mask")
    wave.read("read_behind", 4, lane + 9)
    wave.load("load_uniform", 4, 1000, "indices")
    wave.load("load_uniform_offset", 4, lane, "source + 4 * indices[1000]")
    wave.read("read_uniform_branch", 4, lane * 6 + 1)
    wave.store("store_after_data_exit", 4, lane, "result", data="mask")


MEANINGS: dict[str, Callable[[LaneWave], None]] = {
    "lane_strides": strides,
    "lane_bits": bits,
    "lane_masks": masks,
    "lane_division": division,
    "lane_exchange": exchange,
    "lane_pointers": pointers,
    "lane_data": data,
}
"""By kernel: what each of its waves does."""
