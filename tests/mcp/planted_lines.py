"""Planted kernels with source lines: each run of like instructions is a line of its own, and the text says what it is.

The truth is known from the program: the lines of the instructions that were planted, and of what waits for them.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from synth.planted.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from synth.planted.execution import Execution

FILE = "/build/kernels/planted.hip"
APART = 50  #: Lines between two that have code: what is shown around one does not hold the next.
_LOADS, _STORES, _LDS = ("global_load", "buffer_load"), ("global_store", "buffer_store"), ("ds_",)
#: Cause -> starts of the texts of the instructions that were planted, or that wait for them.
PLANTED: dict[str, tuple[str, ...]] = {
    "bandwidth": (*_LOADS, *_STORES, "s_wait"),
    "load latency": (*_LOADS, "s_wait"),
    "LDS conflicts": (*_LDS, "s_wait"),
    "barrier imbalance": ("s_barrier",),
    "cold fetch": ("v_",),  # the long body of the kernel, whose code comes too late
    "store drain": (*_STORES, "s_endpgm"),
    "matrix-bound": ("v_mfma", "v_wmma"),
    "VALU-bound": ("v_",),
    "s_nop": ("s_nop", "s_delay"),
    "spills": ("scratch_", "s_wait"),
}


def with_lines(execution: Execution, folder: Path) -> dict[int, int]:
    """Give the rows of a decoded trace source lines and a source text; returns address -> line."""
    path = folder / "code.json"
    content = json.loads(path.read_text())
    lines, texts = {}, []
    rows = content["code"][1:]
    for _, group in groupby(rows, key=lambda row: row[0].split()[0]):
        texts += ["//"] * (APART - 1)
        texts.append(f"step_{len(texts) + 1}();")
        for row in group:
            row[3] = f"{FILE}:{len(texts)}"
            lines[row[5]] = len(texts)
    path.write_text(json.dumps(content))
    source = folder / "src" / "kernels" / "planted.hip"
    source.parent.mkdir(parents=True)
    source.write_text("\n".join(texts) + "\n")
    assert len(lines) == len(execution.code.rows)
    return lines


def planted_lines(cause: str, execution: Execution, lines: dict[int, int]) -> set[int]:
    """The lines of what was planted, behind the start of the kernel, which all kernels have."""
    rows = execution.code.rows[len(VOCABULARIES[execution.machine.target].begin) :]
    return {lines[row.address] for row in rows if row.text.startswith(PLANTED[cause])}
