"""The balance sheet of counters in words."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.counters.closure import EXACT, IMPOSSIBLE, OTHER_RUN, UNKNOWN, WITHIN, Closure
from wavewright.base.words import counted, percent
from wavewright.model.blocks import AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import table_below

_ORDER = (OTHER_RUN, IMPOSSIBLE, UNKNOWN, WITHIN, EXACT)  #: Of verdicts: what does not close comes first.
_NAMES = 3  #: Further counters that the headline names.


def closure_report(answer: Closure, *, limit: int) -> Iterator[AnyBlock]:
    """The verdict, then every counter, what does not close first."""
    yield headline(closure_headline(answer))
    if answer.traced_wave_count is not None:
        waves = f"{counted(answer.traced_wave_count, 'whole waves')} traced"
        if answer.grid_wave_count:
            share = answer.traced_wave_count / answer.grid_wave_count
            part = f"of the {answer.grid_wave_count:,.0f} of a dispatch ({percent(share)})"
            waves += f" {part}: each stands for {1 / share:,.1f}"
        yield sentence(waves)
    for note in answer.notes:
        yield sentence((f"note: {note}", "cyan"))
    ranks = {verdict: rank for rank, verdict in enumerate(_ORDER)}
    order = pl.col("verdict").replace_strict(ranks, return_dtype=pl.UInt8)
    yield from table_below(
        "counters/closure/counters",
        answer.counters.sort(order, "kernel", maintain_order=True),
        limit=limit,
        several_kernels=answer.kernel_count > 1,
        expected=_expected,
        because=lambda row: row["reason"] or row["label"],
    )


def closure_headline(answer: Closure) -> str:
    """The verdict about all counters."""
    if not answer.counters.height:
        return "nothing accounts for these counters: no grid, no counter of waves or instructions"
    by_verdict = {verdict: answer.counters.filter(pl.col("verdict") == verdict) for verdict in _ORDER}
    total, agreements = answer.counters.height, by_verdict[EXACT].height + by_verdict[WITHIN].height
    accounts = "grid, passes and trace" if answer.traced_wave_count is not None else "grid and passes"
    for verdict, words in ((OTHER_RUN, "not the same run"), (IMPOSSIBLE, "impossible")):
        rows = by_verdict[verdict]
        if rows.height:
            first = f"{rows['counter'][0]}: {rows['reason'][0]}"
            names = rows["counter"].unique(maintain_order=True).to_list()
            more = f"; also {', '.join(names[1 : 1 + _NAMES])}" if len(names) > 1 else ""
            rest = len(names) - 1 - _NAMES
            more += f" and {rest} more" if rest > 0 else ""
            return f"{words}: {first}{more}; {agreements} of {total} checks close"
    if by_verdict[EXACT].height == total:
        return f"closes exactly: {accounts} account for all {counted(total, 'checks')}"
    most = by_verdict[WITHIN].select((pl.col("ratio") - 1).abs().max()).item() if by_verdict[WITHIN].height else 0.0
    return f"closes within {percent(most or 0.0)}: {by_verdict[EXACT].height} of {total} checks exactly"


def _expected(row: dict[str, object]) -> str:
    least, most = row["expected_min"], row["expected_max"]
    if isinstance(least, float) and isinstance(most, float) and most - least >= 1:
        return f"{least:,.0f} to {most:,.0f}"
    value = row["expected"]
    return f"{value:,.0f}" if isinstance(value, float) else ""
