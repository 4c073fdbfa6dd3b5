"""Search for libLLVM: WAVEWRIGHT_LLVM, ROCm's LLVM, the distribution's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_MAJORS = range(22, 18, -1)
_LIBRARY_NAME = re.compile(r"libLLVM(?:-(\d+))?[^/]*\.(?:so(?:\.(\d+)[^/]*)?|dylib)$")
_FOLDERS = (".", "lib", "lib64", "llvm/lib", "lib/llvm/lib")
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


def find_libraries(environ: Mapping[str, str] | None = None) -> list[str]:
    """Paths of libLLVM to try, in order. With WAVEWRIGHT_LLVM set, only what it names.

    It may name the library, a folder with one, or a program of LLVM such as llvm-objdump: then the library that was
    installed with it.
    """
    environ = os.environ if environ is None else environ
    variable = environ.get("WAVEWRIGHT_LLVM")
    if variable:
        return _named(Path(variable))
    rocm = [Path(environ["ROCM_PATH"])] if environ.get("ROCM_PATH") else []
    rocm += [Path("/opt/rocm"), *sorted(Path("/opt").glob("rocm-*"), reverse=True)]
    by_file: dict[str, str] = {}
    for path in _in_folders([*rocm, *map(Path, _SYSTEM_FOLDERS)]):
        by_file.setdefault(os.path.realpath(path), path)
    return list(by_file.values())


def _named(path: Path) -> list[str]:
    if path.is_dir():
        return list(_in_folders([path]))
    if not path.is_file():
        return []
    file = path.resolve()
    return [str(file)] if _LIBRARY_NAME.search(path.name) else list(_in_folders([file.parent.parent]))


def _in_folders(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        for place in _FOLDERS:
            libraries_by_age = []
            for path in (folder / place).glob("libLLVM*"):
                match = _LIBRARY_NAME.search(path.name)
                # A name without a number says nothing about its age; the child asks the library itself.
                major = int(match[1] or match[2] or _MAJORS.start) if match else 0
                if major >= _MAJORS.stop + 1 and path.is_file():
                    libraries_by_age.append((major, str(path)))
            for _, name in sorted(libraries_by_age, reverse=True)[:_MAX_PER_FOLDER]:
                yield name
