"""examples/hip-arguments: what launches are given, written as arguments.json, by a runtime that stands for HIP."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from synth.kernels import kernel_path
from tests.cli.in_process import call
from tests.unit.capture.made_captures import Bench
from wavewright.capture.judgement import Verdict
from wavewright.capture.kinds import ThreadTraces

ROOT = Path(__file__).parents[3]
STAND_IN = ROOT / "tests/data/hip_stand_in"
DEBIAN = Path("/usr/include/hip/hip_runtime_api.h")
SYMBOL = "_ZN4blas5saxpyILj64EEEvfPKfPfj"
BUFFER = struct.pack("<f4xQQI", 2.5, 0x7F0000002000, 0x7F0000001000, 500)


def compiled(target: Path, source: Path, *words: str, headers: Path = STAND_IN) -> Path:
    """A library, or a program where words say so."""
    compiler = shutil.which("g++")
    assert compiler is not None
    how = [compiler, "-std=c++17", "-Wall", "-fPIC", "-D__HIP_PLATFORM_AMD__", f"-I{headers}", str(source)]
    subprocess.run([*how, *(words or ("-shared", "-ldl")), "-o", target], check=True, capture_output=True, text=True)
    return target


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hip")
    compiled(folder / "libamdhip64.so", STAND_IN / "runtime.cpp")
    compiled(folder / "program", STAND_IN / "program.cpp", f"-L{folder}", "-lamdhip64", f"-Wl,-rpath,{folder}")
    return compiled(folder / "librecord.so", ROOT / "examples/hip-arguments/record_arguments.cpp")


def launched(library: Path, folder: Path, code: Path) -> list[dict[str, Any]]:
    variables = {"LD_PRELOAD": str(library), "WAVEWRIGHT_ARGUMENTS": str(folder)}
    words = [library.with_name("program"), code, SYMBOL]
    done = subprocess.run(words, env=variables, check=True, capture_output=True, text=True)
    assert done.stdout == "3 launches reached the runtime\n"
    return [json.loads(path.read_text()) for path in folder.glob("*/arguments.json")]


@pytest.mark.slow
def test_launches_of_compiled_programs_and_of_modules(library: Path, tmp_path: Path) -> None:
    [document] = launched(library, tmp_path, kernel_path("saxpy", "gfx942"))
    first, second, third = document.pop("dispatches")
    assert document == {"format": "wavewright.arguments", "version": 1}
    expected = struct.pack("<f4xQQI", 2.5, 0x7F0000002000, 0x7F0000001000, 1000).hex()
    sizes = {"workgroup": [256, 1, 1], "grid": [1024, 1, 1], "lds_bytes": 64}
    assert first == {"kernel": SYMBOL, "launch": 1, **sizes, "segment": expected}
    assert (second["launch"], second["grid"], second["segment"]) == (2, [512, 1, 1], BUFFER.hex())
    assert (third["launch"], third["grid"], third["segment"]) == (1, [512, 1, 1], BUFFER.hex()), "another function"


@pytest.mark.first_case
@pytest.mark.parametrize("cut", [4, 63, 65, 200, 600, 900, 2000, 5000])
def test_damaged_code_objects_are_passed_on(library: Path, tmp_path: Path, cut: int) -> None:
    data = kernel_path("saxpy", "gfx942").read_bytes()
    note = data.index(b"amdhsa.kernels")
    (tmp_path / "cut.co").write_bytes(data[:cut])
    (tmp_path / "changed.co").write_bytes(data[:note] + bytes([0xDF, 255, 255, 255, 255] * 400) + data[note + 2000 :])
    for name in ("cut.co", "changed.co"):
        for document in launched(library, tmp_path / name.split(".")[0], tmp_path / name):
            assert {each["segment"] for each in document["dispatches"]} <= {BUFFER.hex()}, "only what needs no layout"


@pytest.mark.skipif(not DEBIAN.is_file(), reason="Debian's package libamdhip64-dev is not installed")
def test_it_fits_the_headers_of_debian(tmp_path: Path) -> None:
    source = ROOT / "examples/hip-arguments/record_arguments.cpp"
    compiled(tmp_path / "librecord.so", source, headers=DEBIAN.parents[1])


#: Loads the runtime as Triton does, launches, and then plays the profiled program.
PROGRAM = """
import ctypes, runpy, sys
hip = ctypes.CDLL({runtime!r})
module, function = ctypes.c_void_p(), ctypes.c_void_p()
hip.hipModuleLoad(ctypes.byref(module), {code!r}.encode())
hip.hipModuleGetFunction(ctypes.byref(function), module, {symbol!r}.encode())
for number in range(1, 13):
    values = ctypes.c_float(1), ctypes.c_uint64(1 << 40), ctypes.c_uint64(2 << 40), ctypes.c_uint32(number)
    params = (ctypes.c_void_p * 4)(*(ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in values))
    hip.hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, None, params, None)
sys.argv = [{program!r}]
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.mark.slow
def test_a_capture_keeps_the_arguments_of_the_traced_launches(library: Path, bench: Bench, tmp_path: Path) -> None:
    usual = bench.job(kernel="saxpy", launches=(7, 8))
    runtime, code = str(library.with_name("libamdhip64.so")), str(kernel_path("saxpy", "gfx942"))
    script = tmp_path / "program.py"
    how = {"runtime": runtime, "code": code, "symbol": SYMBOL, "program": usual.recording.program[3]}
    script.write_text(PROGRAM.format(**how))
    recording = structs.replace(
        usual.recording, program=(sys.executable, str(script)), arguments_library=str(library.absolute())
    )
    assert isinstance(recording, ThreadTraces)
    result = bench.take(structs.replace(usual, recording=recording))
    assert result.verdict is Verdict.GOOD
    assert result.best is not None
    assert "Arguments were recorded of 2 of 2 traced dispatches." in result.best.judgement.reasons
    [path] = (bench.folder / "out").rglob("arguments.json")
    entries = json.loads(path.read_text())["dispatches"]
    assert [(each["launch"], each["segment"][-8:]) for each in entries] == [(7, "07000000"), (8, "08000000")]
    numbers = {each.launch: each.dispatch for each in result.dispatches}
    assert [each["dispatch"] for each in entries] == [numbers[7], numbers[8]]
    done = call("lanes", bench.folder / "out")
    assert (done.status, "arguments from " in done.stderr) == (0, True), done.stderr
