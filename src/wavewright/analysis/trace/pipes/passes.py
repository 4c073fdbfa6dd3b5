"""Cycles that each instruction occupies its pipe, from the facts about the GPU."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.facts.gpus import Arch
from wavewright.model.trace import ThreadTrace


def pipe_cycles_of_rows(trace: ThreadTrace) -> pl.Series:
    """Cycles that the instruction of each code row occupies its pipe; 0 = not declared: as long as it issues.

    A matrix instruction occupies the matrix pipe for its passes, a transcendental one on gfx9 the VALU at a quarter of
    the rate. Where the GPU is not known for sure, the shortest time on the targets that it may be. One value per code
    row, in the order of rows.
    """
    texts = trace.code.sort("row")["text"].fill_null("")
    targets = possible_targets(trace)
    if not targets:
        return pl.Series("pipe_cycles", [0] * texts.len(), pl.Int32)
    by_text = pl.DataFrame({"text": texts.unique()})
    shortest = pl.min_horizontal(declared_cycles(target) for target in targets)
    by_text = by_text.with_columns(pipe_cycles=shortest.fill_null(0).cast(pl.Int32))
    return pl.DataFrame({"text": texts}).join(by_text, on="text", how="left", maintain_order="left")["pipe_cycles"]


def declared_cycles(facts: Arch) -> pl.Expr:
    """Cycles on one target, from the column `text`; null = not declared.

    >>> from wavewright.facts import gpus
    >>> texts = pl.DataFrame({"text": ["v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "s_nop 0"]})
    >>> texts.select(declared_cycles(gpus.of("gfx942"))).to_series().to_list()
    [32, None]
    """
    fits = (
        pl.when(pl.col("text").str.contains(f"^(?:{text})")).then(pl.lit(cycles, pl.Int32))
        for text, cycles in facts.pipe_cycles.items()
    )
    return pl.coalesce(*fits, pl.lit(None, pl.Int32))
