"""LDS accesses of a block that never touch the same bytes on the executed path, from evaluated lane addresses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import polars as pl

from wavewright.analysis.code.edits.code_rows import CodeRow
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, executions
from wavewright.errors import WavewrightError
from wavewright.facts.lanes import LdsAccess, lds_access
from wavewright.model.trace import ThreadTrace

_MOST_INSTRUCTIONS: Final = 50_000  #: Of the wave that is evaluated.
_MOST_ROUNDS: Final = 64  #: Executions of the block that are compared.

BytesTouched = dict[tuple[int, int], dict[int, set[int]] | None]


def lds_apart(trace: ThreadTrace, rows: Sequence[CodeRow]) -> frozenset[tuple[int, int]]:
    """Pairs of LDS rows whose bytes are disjoint in every execution of the block by one wave, at all of its places.

    Other waves need not be looked at: between two barriers an overlap with them would be a race already.
    """
    accesses = {row.row: lds_access(row.text.split(" ", 1)[0]) for row in rows if row.is_lds}
    widths = {row: access.width_bytes for row, access in accesses.items() if isinstance(access, LdsAccess)}
    wave = _wave_of(trace, rows[0].row) if len(widths) > 1 else None
    if wave is None:
        return frozenset()
    try:
        lane_rows = executions(wave, LaneOptions())
    except WavewrightError:  # the target or the start of the kernel is not known
        return frozenset()
    first, last = rows[0].row, rows[-1].row
    numbered = wave.instructions.select("row", round=(pl.col("row") == first).cum_sum()).with_row_index("instruction")
    block_rounds = numbered.filter(pl.col("row").is_between(first, last) & (pl.col("round") <= _MOST_ROUNDS))
    access_rows = lane_rows.join(block_rounds, on="instruction").filter(pl.col("row").is_in(list(widths)))
    bytes_touched = _touched(access_rows, widths)
    rounds = {number for number, _ in bytes_touched}
    pairs = set(combinations(sorted(widths), 2))
    return frozenset(pair for pair in pairs if rounds and all(_is_apart(bytes_touched, each, pair) for each in rounds))


def _wave_of(trace: ThreadTrace, row: int) -> ThreadTrace | None:
    """The first wave that executed a row, as a trace of its own."""
    instructions = trace.instructions
    waves = instructions.filter(pl.col("row") == row)["wave"]
    if not waves.len():
        return None
    of_wave = instructions.filter(pl.col("wave") == waves[0])
    if of_wave.height > _MOST_INSTRUCTIONS:
        return None
    tables = {name: getattr(trace, name) for name in ("code", "shader_engines", "kernels", "dispatches")}
    wave = trace.waves.filter(pl.col("wave") == waves[0])
    return ThreadTrace({**tables, "waves": wave, "instructions": of_wave}, trace.source)


def _touched(access_rows: pl.DataFrame, widths: dict[int, int]) -> BytesTouched:
    """By round and row: the bytes of all lanes, by place in the workgroup; None = not known."""
    bytes_touched: BytesTouched = {}
    names = ("round", "row", "place_in_workgroup", "is_known", "has_base", "address")
    for number, row, place, is_known, has_base, addresses in access_rows.select(names).iter_rows():
        if not is_known or has_base or bytes_touched.get((number, row), {}) is None:
            bytes_touched[number, row] = None
            continue
        bytes_here = (bytes_touched.setdefault((number, row), {}) or {}).setdefault(place, set())
        for address in addresses:
            if address is not None:
                bytes_here.update(range(int(address), int(address) + widths[row]))
    return bytes_touched


def _is_apart(bytes_touched: BytesTouched, number: int, pair: tuple[int, int]) -> bool:
    first_bytes, other = (bytes_touched.get((number, row)) for row in pair)
    if first_bytes is None or other is None:
        return False
    return all(first_bytes[place].isdisjoint(other.get(place, ())) for place in first_bytes)
