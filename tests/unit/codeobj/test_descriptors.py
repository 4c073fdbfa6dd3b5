from __future__ import annotations

import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from synth.kernels import KERNELS, TARGETS, kernel_path
from tests.kit.judges import llvm_program
from tests.kit.together import together
from wavewright.codeobj.code_object import CodeObject, Kernel
from wavewright.codeobj.names import demangle_all

DIRECTIVE = re.compile(r"^\s*\.amdhsa_(\w+) (\d+)", re.MULTILINE)
METADATA = {
    ".vgpr_count": "vgprs_used",
    ".agpr_count": "agprs_used",
    ".sgpr_count": "sgprs_used",
    ".vgpr_spill_count": "vgpr_spills",
    ".sgpr_spill_count": "sgpr_spills",
    ".group_segment_fixed_size": "lds_bytes",
    ".private_segment_fixed_size": "scratch_bytes",
    ".wavefront_size": "wave_size",
    ".max_flat_workgroup_size": "workgroup_size_max",
}


def _objects(shared: Path | None) -> list[Path]:
    own = [kernel_path(kernel, target) for kernel in KERNELS for target in TARGETS]
    return own + (sorted((shared / "data" / "codeobj").glob("*/*")) if shared else [])


@pytest.fixture(scope="module")
def objdump() -> str:
    return llvm_program("llvm-objdump")


def _directives(objdump: str, path: Path, kernel: Kernel) -> dict[str, int]:
    command = [objdump, "--disassemble-all", "--section=.rodata", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, _, described = shown.partition(f".amdhsa_kernel {kernel.name}\n")
    return {name: int(value) for name, value in DIRECTIVE.findall(described.partition(".end_amdhsa_kernel")[0])}


def _check(objdump: str, path: Path) -> int:
    """The number of kernels compared: LLVM refuses descriptors with a reserved bit set, as old compilers left them."""
    compared = 0
    for kernel in CodeObject.read(path).kernels:
        theirs = _directives(objdump, path, kernel)
        if not theirs:
            continue
        compared += 1
        assert kernel.descriptor is not None
        assert theirs["group_segment_fixed_size"] == kernel.lds_bytes
        assert theirs["private_segment_fixed_size"] == kernel.scratch_bytes
        assert theirs["kernarg_size"] == kernel.descriptor["kernarg_bytes"]
        assert theirs.get("wavefront_size32", 0) == (kernel.wave_size == 32)
        assert theirs.get("uses_dynamic_stack", 0) == kernel.dynamic_stack
        assert theirs["system_sgpr_workgroup_id_x"] == kernel.descriptor["workgroup_id_x"]
        assert theirs["system_vgpr_workitem_id"] == kernel.descriptor["workitem_id_dims"]
        assert kernel.vgprs is not None
        assert kernel.agprs is not None
        if "accum_offset" in theirs:
            assert theirs["accum_offset"] == kernel.vgprs
            assert theirs["next_free_vgpr"] == max(kernel.vgprs + kernel.agprs, theirs["next_free_vgpr"])
            assert kernel.vgprs + kernel.agprs >= theirs["next_free_vgpr"] > kernel.vgprs + kernel.agprs - 8
        else:
            assert theirs["next_free_vgpr"] == kernel.vgprs
    return compared


@together("path", _objects(None))
def test_own_descriptors_as_llvm_decodes_them(objdump: str, path: Path) -> None:
    assert _check(objdump, path) == 1


def test_other_descriptors_as_llvm_decodes_them(objdump: str, shared: Path) -> None:
    paths = sorted((shared / "data" / "codeobj").glob("*/*"))
    assert sum(_check(objdump, path) for path in paths) == len(paths) - 1


def test_metadata_as_llvm_prints_it(shared: Path) -> None:
    readelf = llvm_program("llvm-readelf")
    for path in _objects(shared):
        shown = subprocess.run([readelf, "--notes", path], capture_output=True, text=True, check=True).stdout
        kernel = CodeObject.read(path).kernels[0]
        printed = dict(re.findall(r"^\s+(\.\w+):\s+(\d+)$", shown, re.MULTILINE))
        for key, ours in METADATA.items():
            if key in printed:
                assert getattr(kernel, ours) == int(printed[key]), (path, key)


def test_resources_and_names_as_rocprofv3_recorded_them(shared: Path) -> None:
    """rocprofv3 wrote what it took from the same descriptors into its database."""
    compared = 0
    for database in sorted((shared / "data" / "att-mi300x-bmm").glob("c*/raw/*.db")):
        kernels = {}
        for path in database.parent.glob("*.out"):
            number = int(path.stem.rsplit("_", 1)[1])
            kernels |= {(number, f"{kernel.name}.kd"): kernel for kernel in CodeObject.read(path).kernels}
        names = demangle_all(name for _, name in kernels)
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            rows = connection.execute(
                "select code_object_id, kernel_name, display_name, kernarg_segment_size, group_segment_size,"
                " private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count from rocpd_info_kernel_symbol"
            ).fetchall()
        connection.close()
        for number, name, display_name, *resources in rows:
            kernel = kernels[number, name]
            assert kernel.vgprs is not None
            assert kernel.agprs is not None
            # rocprofv3 keeps five of the six bits of accum_offset (docs/explanation/differences.md).
            vgprs = (kernel.vgprs - 1) % 128 + 1
            agprs = kernel.vgprs + kernel.agprs - vgprs
            ours = [kernel.kernarg_bytes, kernel.lds_bytes, kernel.scratch_bytes, kernel.sgprs, vgprs, agprs]
            assert ours == resources
            assert names[name] == display_name
            compared += 1
    assert compared > 50
