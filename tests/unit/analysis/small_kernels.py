"""Traces of small kernels, written down instruction by instruction."""

from __future__ import annotations

from typing import Any

import polars as pl

from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from wavewright.codeobj.classes import classify
from wavewright.model.trace import ThreadTrace

Wave = dict[str, Any]


def code(
    texts: list[str],
    *,
    family: str = "gfx9",
    function: str = "kernel",
    lines: list[int | None] | None = None,
    file: str = "/src/kernel.py",
    first_address: int = 256,
) -> pl.DataFrame:
    """The code table of one function."""
    count = len(texts)
    mapped = lines or [None] * count
    return frame(
        "code",
        {
            "row": range(count),
            "code_object": [7] * count,
            "address": [first_address + 4 * at for at in range(count)],
            "size": [4] * count,
            "text": texts,
            "mnemonic": [text.split(" ")[0] for text in texts],
            "class": [classify(text, family).name for text in texts],
            "function": [function] * count,
            "file": [file if line else None for line in mapped],
            "line": mapped,
            "inline_chain": [f"{file}:{line}" if line else None for line in mapped],
        },
    )


def straight(rows: list[int], *, begin: int = 0, cycles: int = 10, stall: int = 2, **place: int) -> Wave:
    """A wave that runs `rows`, each for `cycles` of which it stalls for `stall`, without gaps."""
    tokens = [(begin + at * cycles, stall, cycles, 6, row) for at, row in enumerate(rows)]
    return {"begin": begin, "end": begin + len(rows) * cycles, "instructions": tokens, **place}


def trace_of(texts: list[str], waves: list[Wave], **more: Any) -> ThreadTrace:
    """A trace of waves over one function; keywords of `code` or tables."""
    tables = {name: more.pop(name) for name in list(more) if isinstance(more[name], pl.DataFrame)}
    return made(waves, code=code(texts, **more), **tables)
