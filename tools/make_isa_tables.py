#!/usr/bin/env python3
"""Writes the tables of the disassembler (`cpp/src/isa/{kinds,tables}.inc`) from LLVM's AMDGPU records.

    python tools/make_isa_tables.py --tsv ../shared/data/isa

Needed only to move to another LLVM: the result is committed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.isa import emit, from_tsv, pack  # noqa: E402
from tools.isa.model import Isa  # noqa: E402


def main() -> int:
    """Reads records, packs and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsv", type=Path, required=True, help="folder with tables made before")
    parser.add_argument("--out", type=Path, default=ROOT / "cpp/src/isa", help="folder of the result")
    arguments = parser.parse_args()
    write(from_tsv.read_isa(arguments.tsv), arguments.out)
    return 0


def write(isa: Isa, folder: Path) -> None:
    """Writes both files."""
    packed = pack.pack(isa)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kinds.inc").write_text(emit.emit_kinds(packed))
    (folder / "tables.inc").write_text(emit.emit_tables(packed))


if __name__ == "__main__":
    sys.exit(main())
