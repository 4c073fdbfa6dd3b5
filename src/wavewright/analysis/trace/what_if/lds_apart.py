"""Pairs of LDS accesses of a block that touch no common byte, from the evaluated addresses of their lanes.

Such accesses may change places in an edited order of the block; all others keep their order.
"""

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

_INSTRUCTIONS_MAX: Final = 50_000  #: Longer waves are not evaluated: it would take seconds; nothing is proven then.
_ROUNDS_MAX: Final = 64  #: Executions of the block whose addresses are compared, at most.

#: (round, row) -> the bytes of LDS that all lanes touch, by the place of the wave in its workgroup; None = unknown.
BytesTouched = dict[tuple[int, int], dict[int, set[int]] | None]


def lds_apart(trace: ThreadTrace, rows: Sequence[CodeRow]) -> frozenset[tuple[int, int]]:
    """Pairs of LDS rows with disjoint bytes in the first 64 executions of the block; empty = nothing is proven.

    One wave is evaluated, the first that ran the block, for every place that it can have in its workgroup. Other waves
    are not compared: an order crosses no barrier, so an overlap with another wave would be a data race already.
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
    block_rounds = numbered.filter(pl.col("row").is_between(first, last) & (pl.col("round") <= _ROUNDS_MAX))
    access_rows = lane_rows.join(block_rounds, on="instruction").filter(pl.col("row").is_in(list(widths)))
    bytes_touched = _touched(access_rows, widths)
    rounds = {round_number for round_number, _ in bytes_touched}
    pairs = combinations(sorted(widths), 2) if rounds else ()
    return frozenset(pair for pair in pairs if all(_are_disjoint(bytes_touched, number, pair) for number in rounds))


def _wave_of(trace: ThreadTrace, row: int) -> ThreadTrace | None:
    """The first wave that executed a row, as a trace of its own."""
    instructions = trace.instructions
    waves = instructions.filter(pl.col("row") == row)["wave"]
    if not waves.len():
        return None
    of_wave = instructions.filter(pl.col("wave") == waves[0])
    if of_wave.height > _INSTRUCTIONS_MAX:
        return None
    tables = {name: getattr(trace, name) for name in ("code", "shader_engines", "kernels", "dispatches")}
    wave = trace.waves.filter(pl.col("wave") == waves[0])
    return ThreadTrace({**tables, "waves": wave, "instructions": of_wave}, trace.source)


def _touched(access_rows: pl.DataFrame, widths: dict[int, int]) -> BytesTouched:
    """The bytes that each LDS row touches in each round."""
    bytes_touched: BytesTouched = {}
    names = ("round", "row", "place_in_workgroup", "is_known", "has_base", "address")
    for round_number, row, place, is_known, has_base, addresses in access_rows.select(names).iter_rows():
        bytes_by_place = bytes_touched.setdefault((round_number, row), {})
        if not is_known or has_base or bytes_by_place is None:  # addresses from an unknown base cannot be compared
            bytes_touched[round_number, row] = None
            continue
        lane_bytes = bytes_by_place.setdefault(place, set())
        for address in addresses:
            if address is not None:  # null = the lane is inactive
                lane_bytes.update(range(int(address), int(address) + widths[row]))
    return bytes_touched


def _are_disjoint(bytes_touched: BytesTouched, round_number: int, pair: tuple[int, int]) -> bool:
    """True if two rows are known to touch different bytes in a round; a row that did not run proves nothing."""
    first, second = (bytes_touched.get((round_number, row)) for row in pair)
    if first is None or second is None:
        return False
    return all(first[place].isdisjoint(second.get(place, ())) for place in first)
