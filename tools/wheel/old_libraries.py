"""Make a folder of libraries to link with, so that the module asks for no newer symbols than an old system has.

`-L FOLDER` in front of everything makes `-lstdc++` mean a linker script there, which names, in this order: a stub of
libstdc++.so.6 that has no symbols above LIMITS, the compiler's libstdc++.a, which fills in the few that are newer (as
Red Hat's toolsets do with their libstdc++_nonshared.a), and our glibc_shim, which does the same for glibc. The stub is
for the linker only; at run time the system's own library is used, the same one that nanobind-backend uses: exceptions
cross from one to the other, and so there must be one C++ runtime (docs/adr/0024-old-symbols-from-a-new-compiler.md).
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
# manylinux_2_28 (auditwheel's manylinux-policy.json): the libraries of GCC 8 and glibc 2.28.
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
VERSION = re.compile(r"^([A-Z]+)_([0-9.]+)$")
# Value, size, type, binding, visibility, section, name and version, as `readelf --dyn-syms` prints them.
SYMBOL = re.compile(
    r"^\s*\d+:\s+[0-9a-f]+\s+(\w+)\s+(\w+)\s+(?:GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+\w+\s+([^@\s]+)@{1,2}(\S+)"
)
KINDS = {"FUNC": "function", "IFUNC": "function", "OBJECT": "object", "TLS": "tls_object"}


class Symbol(NamedTuple):
    """A symbol that a library offers."""

    name: str
    version: str
    kind: str
    size_bytes: int


def allowed(version: str) -> bool:
    """True if the oldest system that we support has this version of a symbol.

    >>> allowed("GLIBCXX_3.4.24"), allowed("GLIBCXX_3.4.29"), allowed("GLIBC_2.2.5"), allowed("CXXABI_TM_1")
    (True, False, True, False)
    """
    match = VERSION.match(version)
    return match is not None and match[1] in LIMITS and order(version) <= LIMITS[match[1]]


def order(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare with others of the same library."""
    return tuple(int(number) for number in version.rpartition("_")[2].split("."))


def old_symbols(library: Path) -> list[Symbol]:
    """Symbols of an old release of the library: of each the newest version within LIMITS."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True)
    newest: dict[str, Symbol] = {}
    for line in listing.stdout.splitlines():
        match = SYMBOL.match(line)
        if not match or match[2] not in KINDS or " UND " in line or not allowed(match[4]):
            continue
        symbol = Symbol(match[3], match[4], KINDS[match[2]], int(match[1], 0))
        if symbol.name not in newest or order(newest[symbol.name].version) < order(symbol.version):
            newest[symbol.name] = symbol
    return sorted(newest.values())


def stub_source(symbols: list[Symbol]) -> tuple[str, str]:
    """Assembler and version script of a library that offers these symbols and contains nothing."""
    lines = [".text"]
    for number, symbol in enumerate(symbols):
        label = f"stub_{number}"
        section = '.section .tbss,"awT",%nobits' if symbol.kind == "tls_object" else ".text"
        lines += [
            section,
            f".globl {label}",
            f".type {label}, %{symbol.kind}",
            f".size {label}, {symbol.size_bytes}",
            f".symver {label}, {symbol.name}@@@{symbol.version}",
            f"{label}: .byte 0" if symbol.kind != "tls_object" else f"{label}: .zero {symbol.size_bytes}",
        ]
    versions = sorted({symbol.version for symbol in symbols})
    return "\n".join([*lines, ""]), "".join(f"{version} {{ }};\n" for version in versions)


def make_folder(compiler: str, folder: Path) -> None:
    """Write the libraries for this compiler (`g++`, `aarch64-linux-gnu-g++`) into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    library, archive = (_path_of(compiler, name) for name in ("libstdc++.so.6", "libstdc++.a"))
    assembler, versions = stub_source(old_symbols(library))
    (folder / "stub.s").write_text(assembler)
    (folder / "stub.map").write_text(versions)
    stub, shim = folder / "libstdc++.so.6", folder / "glibc_shim.o"
    names = ["-Wl,-soname,libstdc++.so.6", "-Wl,--version-script=stub.map"]
    _run([compiler, "-shared", "-nostdlib", *names, "-o", stub.name, "stub.s"], folder)
    options = ["-O2", "-fPIC", "-fexceptions", "-fvisibility=hidden"]
    _run([compiler, "-x", "c", *options, "-c", str(HERE / "glibc_shim.c"), "-o", shim.name], folder)
    (folder / "libstdc++.so").write_text(f"INPUT ( {stub} {archive} {shim} )\n")


def _path_of(compiler: str, name: str) -> Path:
    answer = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    path = Path(answer.stdout.strip())
    if not path.is_absolute():
        raise SystemExit(f"{compiler} has no {name}: install its package of libstdc++")
    return path.resolve()


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, check=True, cwd=folder)
