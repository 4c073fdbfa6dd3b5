"""Where an AMDGPU disassembler may be: WAVESCOPE_LLVM, ROCm's LLVM, the distribution's."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MAJORS = range(22, 18, -1)
_LIBRARY_NAME = re.compile(r"libLLVM(?:-(\d+))?[^/]*\.(?:so(?:\.(\d+)[^/]*)?|dylib)$")
_LIBRARY_FOLDERS = (".", "lib", "lib64", "llvm/lib", "lib/llvm/lib")
_PROGRAM_FOLDERS = (".", "bin", "llvm/bin", "lib/llvm/bin")
_SYSTEM_FOLDERS = (
    *(f"/usr/lib/llvm-{major}" for major in _MAJORS),
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr",
    "/usr/local",
    "/opt/homebrew/opt/llvm",
    "/usr/local/opt/llvm",
)
_MAX_PER_FOLDER = 2


class Tool(NamedTuple):
    """A libLLVM (`is_library`) or an llvm-objdump."""

    path: str
    is_library: bool


def find_tools(environ: Mapping[str, str] | None = None) -> list[Tool]:
    """Disassemblers to try, in order: libraries before programs. With WAVESCOPE_LLVM set, only what it names."""
    environ = os.environ if environ is None else environ
    named = environ.get("WAVESCOPE_LLVM")
    if named:
        return _named_tools(Path(named))
    rocm = [Path(environ["ROCM_PATH"])] if environ.get("ROCM_PATH") else []
    rocm += [Path("/opt/rocm"), *sorted(Path("/opt").glob("rocm-*"), reverse=True)]
    folders = [*rocm, *map(Path, _SYSTEM_FOLDERS)]
    programs = (shutil.which(f"llvm-objdump{suffix}") for suffix in [*(f"-{major}" for major in _MAJORS), ""])
    tools = [*_libraries(folders), *_programs(rocm), *(Tool(path, is_library=False) for path in programs if path)]
    by_file: dict[str, Tool] = {}
    for tool in tools:
        by_file.setdefault(os.path.realpath(tool.path), tool)
    return list(by_file.values())


def _named_tools(path: Path) -> list[Tool]:
    if path.is_dir():
        return [*_libraries([path]), *_programs([path])]
    if not path.is_file():
        return []
    return [Tool(str(path.resolve()), is_library=bool(_LIBRARY_NAME.search(path.name)))]


def _libraries(folders: Iterable[Path]) -> Iterator[Tool]:
    for folder in folders:
        for place in _LIBRARY_FOLDERS:
            dated = []
            for path in (folder / place).glob("libLLVM*"):
                match = _LIBRARY_NAME.search(path.name)
                # A name without a number says nothing about its age; the child asks the library itself.
                major = int(match[1] or match[2] or _MAJORS.start) if match else 0
                if major >= _MAJORS.stop + 1 and path.is_file():
                    dated.append((major, str(path)))
            for _, name in sorted(dated, reverse=True)[:_MAX_PER_FOLDER]:
                yield Tool(name, is_library=True)


def _programs(folders: Iterable[Path]) -> Iterator[Tool]:
    for folder in folders:
        for place in _PROGRAM_FOLDERS:
            path = folder / place / "llvm-objdump"
            if path.is_file():
                yield Tool(str(path), is_library=False)
