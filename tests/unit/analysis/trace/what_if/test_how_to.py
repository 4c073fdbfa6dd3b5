"""The commands of the how-to that need no GPU: from an edit to a code object, on a kernel of ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from synth import Scenario, compiled, synthesize, write_capture
from synth.kernels import source_paths
from tests.kit.judges import llvm_program
from tests.unit.analysis.code.edits.order_cases import kernels_of
from wavewright.analysis.trace.what_if import what_if
from wavewright.analysis.trace.what_if.assembly import assembly
from wavewright.readers.opening import open_trace

_HOW_TO = Path(__file__).resolve().parents[5] / "docs/how-to/edit-a-kernel.md"
_FREE_OF_ROCM = "-x hip -nogpuinc -nogpulib -std=c++20 -fuse-cuid=none"


def _commands(part: int) -> list[str]:
    """The commands of one block of the section about GPUs."""
    text = _HOW_TO.read_text(encoding="utf-8")
    block = re.findall(r"```console\n(.*?)```", text[text.index("## Take it to a GPU") :], re.DOTALL)[part]
    return [command.removeprefix("$ ").strip() for command in re.split(r"\n(?=\$ )", block)]


def _run(command: str, folder: Path) -> None:
    clang = llvm_program("clang")
    plus = llvm_program("clang++")
    command = re.sub(r"^hipcc\b", f"{plus} {_FREE_OF_ROCM}", re.sub(r"^clang\b", clang, command))
    subprocess.run(["bash", "-c", command.replace("NAME", "tiled_gemm")], cwd=folder, check=True, capture_output=True)


def test_an_edit_becomes_a_code_object_that_holds_it(tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    capture.mkdir()
    write_capture(synthesize(Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=1)), capture)
    trace = open_trace(capture)
    answer = what_if(trace, edit="lds first")
    (tmp_path / "edited.s").write_text(assembly(trace, answer), encoding="utf-8")
    for source, name in zip(source_paths("tiled_gemm"), ("kernel.hip", "device.hpp"), strict=True):
        (tmp_path / name).write_bytes(source.read_bytes())
    edit, *rest = _commands(0)
    assert edit == 'wavewright whatif capture/ --edit "lds first" --emit edited.s'
    for command in rest:
        _run(command, tmp_path)
    name, rows = next(kernels_of(tmp_path / "edited.co"))
    assert name == "tiled_gemm"
    listed = [row.text for row in rows.rows]
    block = answer.listing["text"].to_list()
    first = answer.first_row
    assert listed[first : first + len(block) - 1] == block[:-1]  # the branch has another distance
    assert listed[:first] == trace.code.sort("row")["text"].to_list()[:first]


def test_a_program_is_built_with_another_code_object(tmp_path: Path) -> None:
    (tmp_path / "edited.hipfb").write_bytes(b"an edited code object" * 100)
    (tmp_path / "kernel.hip").write_text(
        """
        typedef int hipError_t; struct dim3 { unsigned x, y, z; }; typedef void* hipStream_t;
        extern "C" hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, hipStream_t);
        extern "C" hipError_t __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, hipStream_t*);
        __attribute__((global)) void fill(int* p) { *p = 1; }
        """,
        encoding="utf-8",
    )
    host = next(command for command in _commands(1) if "-fcuda-include-gpubinary" in command)
    _run(host, tmp_path)
    assert (tmp_path / "edited.hipfb").read_bytes() in (tmp_path / "kernel.o").read_bytes()
