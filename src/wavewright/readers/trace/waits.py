"""The `waits` table: which memory operations every executed wait waited for, found as AMD's tools find them."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.model.schema import THREAD_TRACE, empty_frame


def match_waits(instructions: pl.DataFrame, code: pl.DataFrame, gfxip: int) -> pl.DataFrame:
    """Match every executed wait with the instructions it waited for.

    Only texts are looked at, never times; `docs/explanation/waits.md` has the rules and their limits. The rows of
    one wait stand together, counter by counter: rows with the same `instruction` and `counter` are one entry of a
    ui_output `waitcnt` list, in its order.

    In `instructions` the rows of a wave are together and in the order of execution. One whose text in `code` is empty
    ends the matching of its wave, because nobody knows what it put in flight; those without a PC (row -1) are passed
    over. `gfxip` says which counters there are; 0 (nothing decoded) gives an empty table.

    >>> import polars as pl
    >>> texts = ["global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)"]
    >>> code = pl.DataFrame({"row": [0, 1], "text": texts}, schema_overrides={"row": pl.Int32})
    >>> ran = pl.DataFrame({"wave": [0, 0], "row": [0, 1]}, schema={"wave": pl.UInt32, "row": pl.Int32})
    >>> match_waits(ran, code, 9).row(0, named=True)
    {'wave': 0, 'instruction': 1, 'row': 1, 'producer': 0, 'producer_row': 0, 'counter': 'vmcnt'}
    """
    spec = THREAD_TRACE["waits"]
    if gfxip == 0:
        return empty_frame(spec)
    rows = _positions(instructions["row"], code["row"])
    matches = pl.DataFrame(_core.match_waits(code["text"].fill_null("").to_list(), gfxip, instructions["wave"], rows))
    wait, producer = matches["instruction"], matches["producer"]
    names = pl.Series(_core.WAIT_COUNTERS, dtype=pl.String)
    return matches.with_columns(
        instructions["wave"].gather(wait).alias("wave"),
        instructions["row"].gather(wait).alias("row"),
        instructions["row"].gather(producer).alias("producer_row"),
        names.gather(matches["counter"]).alias("counter"),
    ).select(spec.names)


def _positions(rows: pl.Series, code_rows: pl.Series) -> pl.Series:
    """Position of each row in the code table; row numbers of foreign files may have gaps or repeat."""
    positions = code_rows.to_frame("row").with_row_index("position")
    if (positions["row"] == positions["position"]).all():
        return rows
    last = positions.unique("row", keep="last", maintain_order=True)
    no_position = len(code_rows)  # past the last text: its wave cannot be matched any further
    position = pl.col("row").replace_strict(last["row"], last["position"], default=no_position, return_dtype=pl.Int32)
    return rows.to_frame("row").select(pl.when(pl.col("row") < 0).then(-1).otherwise(position)).to_series()
