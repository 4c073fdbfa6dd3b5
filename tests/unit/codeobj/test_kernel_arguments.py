"""What is certain about kernel arguments: from the metadata, the dispatch, the user; and what is refused."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from synth.kernels import kernel_path
from tests.kit.together import together
from tests.unit.codeobj.made_metadata import argument, hidden_arguments, kernel_with, object_with
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.kernel_arguments import ArgumentValues, DispatchSize, argument_values
from wavewright.errors import UsageError

EXPLICIT = [
    argument(0, 8, "global_buffer", name="a", address_space="global", type_name="float*"),
    argument(8, 4, name="m", type_name="uint"),
    argument(12, 4, name="scale", type_name="float"),
    argument(16, 8, name="stride", type_name="long"),
    argument(24, 12, name="tile"),
    argument(36, 4),
    argument(40, 4, "dynamic_shared_pointer", name="shared", pointee_align=16),
]
GEMM = kernel_with([*EXPLICIT, *hidden_arguments(48)], uniform_work_group_size=1)
SIZE = DispatchSize((64, 4, 1), (640, 8, 2))


def values_of(*given: str, size: DispatchSize | None = None) -> ArgumentValues:
    return argument_values(GEMM, size, given=given)


def test_the_arguments_of_a_compiled_kernel() -> None:
    (kernel,) = CodeObject.read(kernel_path("divergent", "gfx942")).kernels
    assert [(a.offset_bytes, a.size_bytes, a.value_kind) for a in kernel.arguments] == [
        (0, 8, "global_buffer"),
        (8, 8, "global_buffer"),
        (16, 4, "by_value"),
    ]
    assert kernel.uniform_workgroups


def test_fields_of_an_argument() -> None:
    pointer, shared = GEMM.arguments[0], GEMM.arguments[6]
    assert (pointer.name, pointer.type_name, pointer.address_space) == ("a", "float*", "global")
    assert (shared.pointee_align_bytes, shared.end_bytes, shared.is_hidden) == (16, 44, False)


@together(
    "arguments, sentence",
    [
        ([argument(0, 8), argument(4, 8)], "two arguments of gemm overlap at offset 0x4"),
        ([argument(508, 8)], "an argument of gemm lies outside of its 512 bytes"),
        ([argument(-1, 8)], "the arguments of gemm cannot be read"),
        ([argument(1 << 40, 8)], "the arguments of gemm cannot be read"),
        ([{".offset": 0}], "the arguments of gemm cannot be read"),
        ("nonsense", "the arguments of gemm cannot be read"),
        ([argument(0, 0)] * 5000, "gemm has 5,000 arguments"),
    ],
)
def test_arguments_that_contradict_themselves_are_none(arguments: Any, sentence: str) -> None:
    code = object_with(arguments)
    assert code.kernels[0].arguments == ()
    assert any(sentence in loss.message for loss in code.losses)
    assert code.kernels[0].kernarg_bytes == 512


def test_nothing_is_certain_without_a_source() -> None:
    values = argument_values(kernel_with(EXPLICIT))
    assert values.known_mask == bytes(512)
    assert (values.dword(0), values.dword(8), values.assumptions) == (None, None, ())


def test_hidden_arguments_follow_from_the_size_of_the_dispatch() -> None:
    values = values_of(size=SIZE._replace(dynamic_lds_bytes=4096))
    assert [values.dword(48 + 4 * axis) for axis in range(3)] == [10, 2, 2]
    assert values.bytes_at(60, 12) == struct.pack("<6H", 64, 4, 1, 0, 0, 0)
    assert values.dword(60) == 64 | 4 << 16
    assert values.bytes_at(112, 2) == b"\x03\0"
    assert values.dword(168) == 4096
    assert values.dword(128) is None  # the buffer for calls to the host


def test_a_grid_that_ends_in_the_middle_of_a_workgroup() -> None:
    values = values_of(size=DispatchSize((64, 4, 1), (650, 8, 1)))
    assert values.dword(48) == 10
    assert values.bytes_at(66, 2) == struct.pack("<H", 10)


def test_without_the_grid_only_what_the_workgroup_tells() -> None:
    values = values_of(size=DispatchSize((64, 4, 1)))
    assert values.dword(48) is None
    assert values.bytes_at(60, 12) == struct.pack("<6H", 64, 4, 1, 0, 0, 0)
    assert values.bytes_at(112, 2) is None
    ragged = argument_values(kernel_with(hidden_arguments(0)), DispatchSize((64, 4, 1)))
    assert ragged.bytes_at(12, 6) == struct.pack("<3H", 64, 4, 1)
    assert ragged.bytes_at(18, 2) is None  # nothing says that the grid is a multiple


def test_a_required_workgroup_size_need_not_be_given() -> None:
    kernel = kernel_with(hidden_arguments(0), reqd_workgroup_size=[256, 1, 1])
    assert argument_values(kernel).bytes_at(12, 2) == struct.pack("<H", 256)
    with pytest.raises(UsageError, match=r"64x4x1 is not that of gemm, which requires 256x1x1"):
        argument_values(kernel, SIZE)


def test_a_hidden_value_that_does_not_fit_its_argument_is_unknown() -> None:
    kernel = kernel_with([argument(0, 1, "hidden_block_count_x"), argument(2, 1, "hidden_block_count_y")])
    values = argument_values(kernel, DispatchSize((1, 1, 1), (256, 255, 1)))
    assert (values.bytes_at(0, 1), values.bytes_at(2, 1)) == (None, b"\xff")


def test_the_global_offset_is_an_assumption() -> None:
    values = values_of()
    assert values.dword(88) == 0
    assert values.assumptions[0].startswith("hidden_global_offset_x is 0, as in HIP")
    given = values_of("hidden_global_offset_x=32")
    assert given.dword(88) == 32
    assert [text[:22] for text in given.assumptions] == ["hidden_global_offset_y", "hidden_global_offset_z"]


@pytest.mark.parametrize(
    "size", [DispatchSize((0, 1, 1)), DispatchSize((1, 1, 1), (-1, 1, 1)), DispatchSize((1, 1, 1 << 16))]
)
def test_impossible_sizes(size: DispatchSize) -> None:
    with pytest.raises(UsageError, match="is impossible"):
        values_of(size=size)


@together(
    "text, offset, data",
    [
        ("m=65536", 8, struct.pack("<I", 65536)),
        ("m=0x10", 8, struct.pack("<I", 16)),
        ("scale=2", 12, struct.pack("<f", 2.0)),
        ("scale=0.1", 12, struct.pack("<f", 0.1)),
        ("stride=-8", 16, struct.pack("<q", -8)),
        ("a=0x7f0000001000", 0, struct.pack("<Q", 0x7F0000001000)),
        ("tile=128,64,1", 24, struct.pack("<3I", 128, 64, 1)),
        ("0x1c=64", 28, struct.pack("<I", 64)),
        ("28=64", 28, struct.pack("<I", 64)),
        ("0x10=5", 16, struct.pack("<Q", 5)),
        ("0x10=5:u32", 16, struct.pack("<I", 5)),
        ("0x14=5", 20, struct.pack("<I", 5)),  # the upper half of a long
        ("0x24=-1", 36, b"\xff" * 4),
        ("0x24=1.5", 36, struct.pack("<f", 1.5)),
        ("0x24=7:u16", 36, b"\x07\0"),
        ("hidden_block_count_x=10", 48, struct.pack("<I", 10)),
        ("shared=256", 40, struct.pack("<I", 256)),
    ],
)
def test_given_values(text: str, offset: int, data: bytes) -> None:
    values = values_of(text)
    assert values.bytes_at(offset, len(data)) == data
    certain = {place for place, byte in enumerate(values.known_mask) if byte} - set(range(88, 112))
    assert certain == set(range(offset, offset + len(data)))


@together(
    "given, sentence",
    [
        (["n=1"], r"no such argument: 'n'; gemm has the arguments 0x0 a \(float\*\), 0x8 m \(uint\)"),
        (["m"], "'m' is not NAME=VALUE or OFFSET=VALUE"),
        (["=3"], "is not NAME=VALUE"),
        (["m="], "is not NAME=VALUE"),
        (["m=-1"], "'-1' is not an unsigned integer of 4 bytes"),
        (["m=4294967296"], "is not an unsigned integer of 4 bytes"),
        (["m=1.5"], r"'1.5' is not an unsigned integer of 4 bytes; give such a number, or 1.5:f32 for a float"),
        (["m=" + "9" * 5000], r"'9{40}\.\.\.' is not an unsigned"),
        (["scale=x"], "'x' is not a float of 4 bytes"),
        (["scale=1e60"], "'1e60' is not a float"),
        (["m=5:u64"], "m=5:u64 gives 8 bytes, and m has 4"),
        (["m=5:int"], "no such type: 'int' in m=5:int; types are"),
        (["tile=1,2"], "gives 8 bytes, and tile has 12"),
        (["tile=1"], "gives 4 bytes, and tile has 12"),
        (["0x8=5:u64"], "has 8 bytes, and leaves the argument at 0x8 with its 4"),
        (["0x6=5:u32"], "leaves the argument at 0x0"),
        (["0x2c=5:u64"], "leaves the argument at 0x30"),
        (["0x1fe=5"], "lies outside of the 512 bytes"),
        (["0x99999999=5"], "lies outside of the 512 bytes"),
        (["m=1", "0x8=1"], "0x8=1 and m=1 overlap at offset 0x8"),
        (["tile=1,2,3", "0x20=3"], "overlap at offset 0x20"),
        (
            ["hidden_block_count_x=11"],
            "hidden_block_count_x=11 and the size of the dispatch disagree about hidden_block",
        ),
    ],
)
def test_given_values_that_make_no_sense(given: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        values_of(*given, size=SIZE)


def test_a_name_that_several_arguments_have() -> None:
    kernel = kernel_with([argument(0, 4, name="pad"), argument(4, 4, name="pad")])
    with pytest.raises(UsageError, match=r"2 arguments are called 'pad'; give the offset: 0x0, 0x4"):
        argument_values(kernel, given=["pad=1"])


def test_hostile_names_of_arguments_are_short_and_printable_in_messages() -> None:
    kernel = kernel_with([argument(0, 4, name="\x1b[31m" + "x" * 100_000)])
    with pytest.raises(UsageError) as refused:
        argument_values(kernel, given=["m=1"])
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


def test_offsets_where_the_code_object_lists_no_arguments() -> None:
    kernel = kernel_with([], segment_bytes=0)
    assert argument_values(kernel, given=["0x34=65536"]).dword(0x34) == 65536
    with pytest.raises(UsageError, match="the code object does not list arguments of gemm"):
        argument_values(kernel, given=["m=1"])
    with pytest.raises(UsageError, match="lies outside of the 1,048,576 bytes"):
        argument_values(kernel, given=["0xfffff0=1"])


def test_a_claim_of_gigabytes_takes_no_memory() -> None:
    kernel = kernel_with([argument(0, 4, name="m")], segment_bytes=0xFFFF_FFF0)
    assert argument_values(kernel, given=["m=3"]).value == struct.pack("<I", 3)


def test_names_and_pointers_of_the_segment() -> None:
    values = values_of()
    assert [values.is_pointer(offset) for offset in (0, 4, 8, 40, 128)] == [True, True, False, False, True]
    assert [values.name_at(offset) for offset in (0, 4, 8, 36, 48, 44)] == [
        "a",
        "a + 4",
        "m",
        "argument 6 at 0x24",
        "hidden_block_count_x",
        "offset 0x2c of the arguments",
    ]


def test_recorded_bytes_are_certain_and_must_agree() -> None:
    segment = bytearray(argument_values(GEMM, SIZE).value)
    segment[8:12] = struct.pack("<I", 77)
    segment[88:96] = struct.pack("<Q", 5)  # an OpenCL program with a global offset
    values = argument_values(GEMM, DispatchSize((64, 4, 1)), recorded=bytes(segment))
    assert (values.dword(8), values.dword(88), values.assumptions) == (77, 5, ())
    assert set(values.known_mask) == {0xFF}
    with pytest.raises(
        UsageError, match="the size of the dispatch and the recorded arguments disagree about hidden_group"
    ):
        argument_values(GEMM, DispatchSize((32, 4, 1)), recorded=bytes(segment))
    with pytest.raises(UsageError, match="m=78 and the recorded arguments disagree about m of gemm"):
        argument_values(GEMM, given=["m=78"], recorded=bytes(segment))
    visible = argument_values(GEMM, recorded=bytes(segment[:44]))  # a launcher knows no hidden arguments
    assert (visible.dword(8), visible.dword(48)) == (77, None)
    for length in (0, 43, 49, 511, 577):
        with pytest.raises(UsageError, match=rf"{length} bytes of arguments were recorded, and gemm has 512"):
            argument_values(GEMM, recorded=bytes(length))
