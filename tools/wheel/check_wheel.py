"""Check a wheel before anybody gets it: what it contains, which symbols it asks for and offers, and its size.

Needs auditwheel and pyelftools (the dependency group `audit`).

usage: python tools/wheel/check_wheel.py WHEEL...
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from email.parser import BytesParser
from pathlib import Path
from typing import NamedTuple

import old_libraries

ROOT = Path(__file__).resolve().parents[2]
CORE = "wavewright/_core.abi3.so"
LARGEST_BYTES = 6_000_000
LIBRARIES = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "libpthread.so.0"}
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
# What is built, and so not tracked by git.
WANTED = (
    CORE,
    "wavewright/_web/index.html",
    "wavewright/_web/page.js",
    "wavewright/_web/page.css",
    "wavewright/_web/page.licences.txt",
    "wavewright/_web/page.sources.txt",
)
NOTICES = ("LICENSE", "THIRD_PARTY_NOTICES.md", "licenses/LLVM.txt", "licenses/nanobind.txt", "licenses/GCC.txt")
UNWANTED = re.compile(r"(^|/)(tests?|synth|benchmarks|node_modules|__pycache__)/|\.(pyc|cpp|hpp|map|o|a)$")
# Folders of the machine that built it: no user's home, no build folder.
PATHS = re.compile(rb"/(?:home|root|tmp|work|github|__w)/[\w.+/-]+")


class Symbols(NamedTuple):
    """Symbols that the native module takes from the system and offers to it."""

    machine: str
    libraries: set[str]
    versions: dict[str, set[str]]  # GLIBC -> GLIBC_2.14, ...
    exports: set[str]


def main() -> int:
    """Check the wheels that the command line names."""
    problems = [f"{Path(name).name}: {problem}" for name in sys.argv[1:] for problem in check(Path(name))]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def check(wheel: Path) -> list[str]:
    """Problems of the wheel; prints its figures."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        core = archive.read(CORE) if CORE in names else b""
        problems = (
            content_problems(names, tracked_files()) + order_problems(archive) + metadata_problems(archive, wheel)
        )
        problems += [f"{name} names {path}" for name in names for path in machine_paths(archive.read(name))]
    size_bytes = wheel.stat().st_size
    print(f"{wheel.name}: {size_bytes / 1e6:.2f} MB, {len(names)} files; {CORE} {len(core) / 1e6:.2f} MB")
    if size_bytes > LARGEST_BYTES:
        problems.append(f"{size_bytes} bytes are more than {LARGEST_BYTES}")
    if core:
        symbols = read_symbols(core)
        print(f"  libraries: {', '.join(sorted(symbols.libraries))}; exports: {', '.join(sorted(symbols.exports))}")
        for kind, versions in sorted(symbols.versions.items()):
            print(f"  {kind}: {', '.join(sorted(versions, key=old_libraries.order))}")
        problems += symbol_problems(symbols, machine_of(wheel))
    return problems + audit_problems(wheel)


def tracked_files() -> list[str]:
    """The files of the package that git tracks, as the wheel names them."""
    command = ["git", "ls-files", "wavewright"]
    listed = subprocess.run(command, cwd=ROOT / "src", check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def content_problems(names: list[str], tracked: list[str]) -> list[str]:
    """Files that are missing, and files that should not be there."""
    ends = tuple(f".dist-info/licenses/{name}" for name in NOTICES)
    missing = [name for name in [*WANTED, *tracked] if name not in names]
    missing += [end for end in ends if not any(name.endswith(end) for name in names)]
    natives = [name for name in names if ".so" in Path(name).suffixes and name != CORE]
    strange = [name for name in names if UNWANTED.search(name)]
    return [f"there is no {name}" for name in missing] + [f"there is {name}" for name in [*strange, *natives]]


def order_problems(archive: zipfile.ZipFile) -> list[str]:
    """Signs that another build would give other bytes: several times."""
    times = {entry.date_time for entry in archive.infolist()}
    return [] if len(times) == 1 else [f"its files have {len(times)} different times"]


def metadata_problems(archive: zipfile.ZipFile, wheel: Path) -> list[str]:
    """Tags that do not agree with the name of the file, and licences that are not declared."""
    folder = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    about = BytesParser().parsebytes(archive.read(f"{folder}/WHEEL"))
    tags = about.get_all("Tag") or []
    problems = [] if tags == ["-".join(wheel.stem.split("-")[2:])] else [f"its tags are {', '.join(tags)}"]
    declared = BytesParser().parsebytes(archive.read(f"{folder}/METADATA")).get_all("License-File") or []
    return problems + [f"{name} is no declared licence file" for name in NOTICES if name not in declared]


def machine_paths(data: bytes) -> list[str]:
    """Paths of the machine that built the wheel.

    >>> machine_paths(b"x/root/build/cpp/src/decode/decode.cpp"), machine_paths(b"/opt/rocm/bin")
    (['/root/build/cpp/src/decode/decode.cpp'], [])
    """
    here = str(ROOT).encode()
    return sorted(
        {match.decode() for match in PATHS.findall(data) if match.startswith(here) or match.endswith(SOURCES)}
    )


SOURCES = (b".cpp", b".hpp", b".h", b".c", b".ts", b".tsx")


def read_symbols(core: bytes) -> Symbols:
    """Libraries, versions of symbols and exports of an ELF file."""
    from elftools.elf.elffile import ELFFile  # here, so that the other checks are tested without the group `audit`
    from elftools.elf.gnuversions import GNUVerNeedSection

    file = ELFFile(io.BytesIO(core))
    libraries = {tag.needed for tag in file.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for section in file.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, entries in section.iter_versions():
                for entry in entries:
                    versions[entry.name.partition("_")[0]].add(entry.name)
    symbols = file.get_section_by_name(".dynsym").iter_symbols()
    exports = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name}
    return Symbols(file["e_machine"], libraries, dict(versions), exports)


def symbol_problems(symbols: Symbols, machine: str) -> list[str]:
    """Symbols that an old system does not have, or that should not be visible to others."""
    problems = [f"it needs {name}" for name in sorted(symbols.libraries - LIBRARIES - LOADERS)]
    needed = sorted(set().union(*symbols.versions.values()))
    problems += [f"it needs symbols of {version}" for version in needed if not old_libraries.allowed(version)]
    if symbols.exports != {"PyInit__core"}:
        problems.append(f"it exports {len(symbols.exports)} symbols, not just PyInit__core")
    if symbols.machine != MACHINES[machine]:
        problems.append(f"its module is for {symbols.machine}")
    return problems


def machine_of(wheel: Path) -> str:
    """The machine in the name of a wheel."""
    return next(machine for machine in MACHINES if wheel.stem.endswith(machine))


def audit_problems(wheel: Path) -> list[str]:
    """Judgement of auditwheel about the tag: it must find the wheel consistent with it, or with an older one."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=False
    )
    match = re.search(r'following platform tag:\s+"manylinux_2_(\d+)_\w+"', done.stdout)
    if not match:
        return [f"auditwheel: {(done.stdout + done.stderr).strip()}"]
    print(f"  auditwheel: consistent with {match[0].split()[-1]}")
    return [] if int(match[1]) <= old_libraries.LIMITS["GLIBC"][1] else [f"auditwheel: manylinux_2_{match[1]}"]


if __name__ == "__main__":
    sys.exit(main())
