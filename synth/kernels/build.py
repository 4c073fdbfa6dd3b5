"""Compile the kernels and write their listings: `python -m synth.kernels.build [FOLDER]`.

Needs clang 22 with lld and libLLVM; no ROCm. LLVM writes the listings, so that they can judge our disassembler. The
result is the same on every machine: no path, time or host name gets into the files.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from synth.kernels import BUILDS, kernel_path, listing_path, source_paths
from wavewright.errors import MissingToolError, WavewrightError

__all__ = ["build"]

_SOURCES = Path(__file__).parent / "sources"
_COMPILER = "clang++-22"
_SHOWN_FOLDER = "/wavewright/kernels"  # what debug lines call the folder of the sources
_OPTIONS = (
    *("-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-I", str(_SOURCES), "-std=c++20", "-O3", "-g", "-Wall", "-Wextra", "-Werror"),
    *(f"-ffile-prefix-map={_SOURCES}={_SHOWN_FOLDER}", f"-fdebug-compilation-dir={_SHOWN_FOLDER}"),
)


def build(folder: Path) -> int:
    """Build every kernel for every target into `folder`; the number of code objects.

    Raises
    ------
    MissingToolError
        No clang, or no libLLVM.
    """
    compiler = shutil.which(_COMPILER)
    if compiler is None:
        what, advice = f"{_COMPILER} is not installed", "Debian: apt-get install clang-22 lld-22 llvm-22"
        raise MissingToolError(what, advice=advice)
    folder.mkdir(parents=True, exist_ok=True)
    for kernel, target in BUILDS:
        code_object = folder / kernel_path(kernel, target).name
        _compile(compiler, kernel, target, code_object)
        (folder / listing_path(kernel, target).name).write_bytes(_listing(code_object))
    return len(BUILDS)


def _compile(compiler: str, kernel: str, target: str, output: Path) -> None:
    with tempfile.TemporaryDirectory(dir=output.parent) as scratch:
        code_object = Path(scratch) / output.name
        source = source_paths(kernel)[0]
        prefix_map = f"-ffile-prefix-map={source.parent}={_SHOWN_FOLDER}"
        command = [compiler, *_OPTIONS, prefix_map, f"--offload-arch={target}", "-o", str(code_object), str(source)]
        subprocess.run(command, cwd=_SOURCES, check=True)
        code_object.replace(output)


def _listing(code_object: Path) -> bytes:
    from wavewright.codeobj.chunks import cut
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.codeobj.libllvm.disassembler import run_llvm
    from wavewright.codeobj.libllvm.libraries import find_libraries

    built = CodeObject.read(code_object)
    chunks, code = cut(built)
    run = run_llvm(find_libraries(), built.target or "", code, chunks)
    if run.pending or run.notes:
        what = "; ".join(run.notes + run.rejections) or "no libLLVM is installed"
        raise MissingToolError(what, where=code_object.name, advice="Debian: apt-get install llvm-22")
    return b"".join(run.lines)


if __name__ == "__main__":
    try:
        count = build(Path(sys.argv[1]) if len(sys.argv) > 1 else kernel_path("", "").parent)
        print(f"{count} code objects built", file=sys.stderr)
    except (WavewrightError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
