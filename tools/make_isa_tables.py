#!/usr/bin/env python3
"""Writes the tables of the disassembler (`cpp/src/isa/{kinds,tables}.inc`) from LLVM's AMDGPU records.

    python tools/make_isa_tables.py --source llvm-toolchain-22_22.1.8 --archive llvm-toolchain-22_22.1.8.orig.tar.xz
    python tools/make_isa_tables.py --tsv ../shared/data/isa --out /tmp/tables

The first is what is committed; the second, made once from the same LLVM, is there to compare with. Needed only to move
to another LLVM: the result is committed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.isa import emit, from_llvm, from_tsv, pack  # noqa: E402
from tools.isa.corrections import corrected  # noqa: E402

if TYPE_CHECKING:
    from tools.isa.model import Isa


def main() -> int:
    """Reads records, packs and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--source", type=Path, help="folder of LLVM's source package")
    origin.add_argument("--tsv", type=Path, help="folder with tables made before")
    parser.add_argument("--archive", type=Path, help="the source package, to check that it is the expected one")
    parser.add_argument("--out", type=Path, default=ROOT / "cpp/src/isa", help="folder of the result")
    arguments = parser.parse_args()
    write(_records(arguments), arguments.out)
    return 0


def _records(arguments: argparse.Namespace) -> Isa:
    if arguments.tsv:
        return from_tsv.read_isa(arguments.tsv)
    return from_llvm.load(arguments.source, arguments.archive)


def write(isa: Isa, folder: Path) -> None:
    """Writes both files."""
    packed = pack.pack(corrected(isa))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kinds.inc").write_text(emit.emit_kinds(packed))
    (folder / "tables.inc").write_text(emit.emit_tables(packed))


if __name__ == "__main__":
    sys.exit(main())
