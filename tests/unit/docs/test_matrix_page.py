"""The page about matrix instructions: cycles against our facts, wait states against LLVM."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wavewright.facts.gpus import facts

PAGE = Path(__file__).parents[3] / "docs/reference/matrix-instructions.md"
TARGETS = ("gfx90a", "gfx942", "gfx950")
#: Instruction of the page -> elements of the result, of A and B, and LLVM's name.
INTRINSICS = {
    "v_mfma_f32_4x4x4_16b_f16": ("4 x float", "4 x half", "f32.4x4x4f16"),
    "v_mfma_f32_16x16x16_f16": ("4 x float", "4 x half", "f32.16x16x16f16"),
    "v_mfma_f32_16x16x32_f16": ("4 x float", "8 x half", "f32.16x16x32.f16"),
    "v_mfma_f32_16x16x4_f32": ("4 x float", "float", "f32.16x16x4f32"),
    "v_mfma_f32_32x32x8_f16": ("16 x float", "4 x half", "f32.32x32x8f16"),
    "v_mfma_f32_32x32x2_f32": ("16 x float", "float", "f32.32x32x2f32"),
    "v_mfma_f64_16x16x4_f64": ("4 x double", "double", "f64.16x16x4f64"),
}
Cells = tuple[int, ...] | None


def rows() -> dict[str, list[Cells]]:
    """Instruction -> per target: cycles, waits before a reader, before A or B, before C; None = not there."""
    table: dict[str, list[Cells]] = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `v_mfma"):
            name, *cells = (cell.strip(" `") for cell in line.strip("|").split("|"))
            table[name] = [None if cell == "-" else tuple(map(int, re.findall(r"\d+", cell))) for cell in cells]
    return table


def test_cycles_are_those_of_the_facts() -> None:
    assert rows().keys() == INTRINSICS.keys()
    for name, cells in rows().items():
        for target, cell in zip(TARGETS, cells, strict=True):
            if cell is not None:
                declared = facts.of(target).pipe_cycles
                assert cell[0] == next(n for text, n in declared.items() if re.match(text, name)), (name, target)


def program(name: str, use: str) -> str:
    """A matrix instruction, and what uses its result: a store, or A or C of another one."""
    result, source, intrinsic = INTRINSICS[name]
    c, a = f"<{result}>", f"<{source}>" if " x " in source else source
    function = f"@llvm.amdgcn.mfma.{intrinsic}"

    def call(to: str, first: str, third: str) -> str:
        return f"{to} = call {c} {function}({a} {first}, {a} %b, {c} {third}, i32 0, i32 0, i32 0)\n"

    body, last = call("%x", "%a", "%c"), "%x"
    if use == "a":
        dwords = 1 if source == "float" else int(source.split()[0]) // 2 if " x " in source else 1
        picked = ", ".join(f"i32 {n}" for n in range(dwords))
        kind = result.split()[2]
        if source == kind:
            body += f"%y = extractelement {c} %x, i32 0\n"
        else:
            body += f"%q = shufflevector {c} %x, {c} %x, <{dwords} x i32> <{picked}>\n"
            body += f"%y = bitcast <{dwords} x {kind}> %q to {a}\n"
        body, last = body + call("%z", "%y", "%c"), "%z"
    elif use == "c":
        body, last = body + call("%z", "%a", "%x"), "%z"
    head = f"declare {c} {function}({a}, {a}, {c}, i32, i32, i32)\n"
    parameters = f"ptr addrspace(1) %p, {a} %a, {a} %b, {c} %c"
    return (
        f"{head}define amdgpu_ps void @k({parameters}) {{\n{body}store {c} {last}, ptr addrspace(1) %p\nret void\n}}\n"
    )


def waits(name: str, target: str, use: str) -> int:
    """Wait states that LLVM puts between the matrix instruction and the use."""
    command = ["llc-22", "-mtriple=amdgcn", f"-mcpu={target}", "-o", "-"]
    done = subprocess.run(command, input=program(name, use), capture_output=True, text=True, check=True)
    code = re.findall(r"^\s+((?:v|s|global)_.*)$", done.stdout, re.MULTILINE)
    first = next(at for at, text in enumerate(code) if text.startswith("v_mfma"))
    states = 0
    for text in code[first + 1 :]:
        if text.startswith(("global_store", "v_accvgpr_read") if use == "store" else "v_mfma"):
            return states
        states += int(text.split()[1], 0) + 1 if text.startswith("s_nop") else 1
    raise AssertionError(code)


def test_wait_states_are_those_of_llvm() -> None:
    if shutil.which("llc-22") is None:
        pytest.skip("llc-22 is not installed (make test-llvm)")
    for name, cells in rows().items():
        for target, cell in zip(TARGETS, cells, strict=True):
            if cell is not None:
                assert cell[1:] == tuple(waits(name, target, use) for use in ("store", "a", "c")), (name, target)
