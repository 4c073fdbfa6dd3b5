"""The lanes of one memory instruction: phases with their conflicts, or groups with their segments."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.trace.lanes.pattern import RowPattern
from wavewright.base.words import counted, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, sentence
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import place

_STRIDES_SHOWN = 3  #: Different distances between lanes, the most frequent first.


def pattern_report(answer: RowPattern) -> Iterator[AnyBlock]:
    """Addresses of the lanes, and the cycles or segments that serve them."""
    where = place(answer.file, answer.line)
    yield sentence((f"row {answer.row}: {answer.text}", "bold"), f"  {where}" if where else "")
    access_count = answer.groups["access"].n_unique()
    yield Sentence(_facts(answer, access_count))
    for (access,), lanes in answer.lanes.group_by("access", maintain_order=True):
        if access_count > 1:
            yield GAP
            yield sentence((f"access {access + 1} of {access_count}", "bold"))
        yield Sentence(f"addresses: {steps(lanes)}")
        groups = answer.groups.filter(pl.col("access") == access).with_columns(number=pl.col("group") + 1)
        yield declared_table(f"trace/pattern/{'phases' if answer.bank_count else 'groups'}", groups)
    if answer.bank_count and answer.fix:
        now, then = int(answer.groups["count"].sum()), int(answer.groups["fixed_count"].sum())
        yield sentence(("try: ", "bold cyan"), f"{answer.fix}: {now:,} cycles become {then:,}")


def _facts(answer: RowPattern, access_count: int) -> str:
    total, least = int(answer.groups["count"].sum()), int(answer.groups["least_count"].sum())
    unit = "cycles" if answer.bank_count else f"segments of {answer.segment_bytes} bytes"
    size = f"{answer.bank_count} banks" if answer.bank_count else f"{counted(least, 'segments')} at least"
    rule = f"rule for {answer.target}: {answer.confidence}"
    shown = "its only pattern" if answer.pattern_count == 1 else (
        f"the costliest of {answer.pattern_count:,} patterns, {percent(answer.pattern_share, 0)} of its executions"
    )  # fmt: skip
    twice = f" in {access_count} accesses" if access_count > 1 else ""
    detail = f"{least:,} without conflicts, {size}" if answer.bank_count else size
    return f"{answer.width_bytes} bytes per lane{twice}: {total:,} {unit}, {detail}; {rule}; {shown}"


def steps(lanes: pl.DataFrame) -> str:
    """Distances between the addresses (`address_bytes`) of neighbouring lanes (`lane`), in words.

    >>> steps(pl.DataFrame({"lane": [0, 1, 2, 3], "address_bytes": [0, 32, 64, 8]}))
    'lane 0 at 0, then +32 (2 times), -56 (1 time)'
    """
    addresses = lanes.sort("lane")
    first = addresses.row(0, named=True)
    distances = addresses["address_bytes"].diff().drop_nulls()
    if not distances.len():
        return f"lane {first['lane']} at {first['address_bytes']:,}"
    counts = distances.value_counts(sort=True).sort("count", "address_bytes", descending=[True, False])
    parts = [
        f"{step:+,} ({count} time{'s' if count > 1 else ''})" for step, count in counts.head(_STRIDES_SHOWN).rows()
    ]
    more = ", ..." if counts.height > _STRIDES_SHOWN else ""
    return f"lane {first['lane']} at {first['address_bytes']:,}, then {', '.join(parts)}{more}"
