"""Assemble synth/listings/tour.S for every family and write its listings (needs clang-22, lld-22).

python tools/make_tour_listings.py
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

LISTINGS = Path(__file__).resolve().parents[1] / "synth/listings"
MACROS = {
    "gfx942": ["GFX9"],
    "gfx950": ["GFX9", "GFX950"],
    "gfx1030": ["GFX10"],
    "gfx1100": ["GFX11"],
    "gfx1201": ["GFX12"],
    "gfx1250": ["GFX1250"],
}
LINE = re.compile(r"^\t(?P<text>.*?)\s*// (?P<address>[0-9A-F]+): (?P<words>(?:[0-9A-F]{8} ?)+)")


def listing(gpu: str) -> str:
    """TSV of address, size, text."""
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "tour.co"
        defines = [f"-D{macro}" for macro in MACROS[gpu]]
        compile_ = ["clang-22", "-x", "assembler-with-cpp", *defines, "--target=amdgcn-amd-amdhsa", f"-mcpu={gpu}"]
        subprocess.run([*compile_, str(LISTINGS / "tour.S"), "-o", str(elf)], check=True)
        command = ["llvm-objdump-22", "-d", "-j", ".text", str(elf)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = []
    for line in text.splitlines():
        if match := LINE.match(line):
            size = 4 * len(match["words"].split())
            rows.append(f"{int(match['address'], 16)}\t{size}\t{match['text']}\n")
    return "".join(rows)


for name in MACROS:
    (LISTINGS / f"tour.{name}.isa.tsv").write_text(listing(name))
