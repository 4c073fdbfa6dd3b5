"""Where code is cut, and of which wave size each piece is."""

from __future__ import annotations

import pytest

from synth.kernels import kernel_path
from tests.kit.together import together
from tests.unit.codeobj.made_elf import code_only, functions_of
from wavewright.codeobj.chunks import cut, wave64_of
from wavewright.codeobj.code_object import CodeObject

NOP = bytes.fromhex("000080bf")


def test_functions_start_chunks_and_no_byte_is_left_out() -> None:
    code_object = CodeObject.read(kernel_path("divergent", "gfx942"))
    chunks, code = cut(code_object)
    assert [chunk.address for chunk in chunks] == [function.address for function in code_object.functions]
    assert len(code) == sum(size for _, size in code_object.text_ranges)
    for chunk in chunks:
        assert code[chunk.start : chunk.end] == code_object.bytes_at(chunk.address, chunk.end - chunk.start)


def test_ranges_in_the_middle() -> None:
    code_object = CodeObject.read(kernel_path("divergent", "gfx942"))
    first, second = code_object.functions
    wanted = [(second.address + 8, 16), (first.address + 4, 8), (1 << 40, 64)]
    chunks, code = cut(code_object, wanted)
    assert [(chunk.address, chunk.end - chunk.start) for chunk in chunks] == sorted(wanted)[:2]
    assert code == code_object.bytes_at(first.address + 4, 8) + code_object.bytes_at(second.address + 8, 16)
    (chunk,) = cut(code_object, [(first.address - 8, 12)])[0]
    assert (chunk.address, chunk.end) == (first.address, 4)


@together(
    "target, expected",
    [("gfx90a", True), ("gfx942", True), ("gfx1030", False), ("gfx1100", False), ("gfx1201", False)],
)
def test_wave_sizes_that_compilers_choose(target: str, expected: bool) -> None:
    chunks, _ = cut(CodeObject.read(kernel_path("saxpy", target)))
    assert [chunk.wave64 for chunk in chunks] == [expected]


@together("target", ["gfx1030", "gfx1100", "gfx1201"])
@together(
    "lanes, expected",
    [
        ((64, 64, None), [True, True, True]),
        ((32, 64, None), [False, True, False]),  # who calls the function is not known
        ((32, 32, None), [False, False, False]),
    ],
)
def test_wave_sizes_are_those_of_the_descriptors(
    target: str, lanes: tuple[int | None, ...], expected: list[bool]
) -> None:
    functions = {name: (NOP * 2, size) for name, size in zip(("one", "two", "helper"), lanes, strict=True)}
    code_object = CodeObject.from_bytes(functions_of(functions, target=target))
    assert [kernel.wave_size for kernel in code_object.kernels] == list(lanes[:2])
    assert [chunk.wave64 for chunk in cut(code_object)[0]] == expected
    (inside,) = cut(code_object, [(code_object.functions[1].address + 4, 4)])[0]
    assert inside.wave64 == expected[1]


@pytest.mark.parametrize(("target", "expected"), [("gfx942", True), ("gfx1100", False), ("gfx1250", False)])
def test_code_without_kernels(target: str, expected: bool) -> None:
    assert wave64_of(CodeObject.from_bytes(code_only(bytes(4), target=target)))(0x1000) == expected
