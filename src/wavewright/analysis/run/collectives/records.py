"""Collectives in logs of RCCL Inspector and dumps of PyTorch's flight recorder, over all ranks.

Results are the bandwidth of each collective and size, and the first call of a group at which ranks differ: where a
job hangs, this is the call that some ranks did not reach.
"""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from wavewright.analysis.run.collectives.collectives import bus_factor, kind_of
from wavewright.analysis.run.select.identities import processes_of
from wavewright.base.words import some_of
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec
from wavewright.readers.run.collective_records import RCCL

_TABLE = "collective_records"  #: Extra table of logs of RCCL Inspector and of dumps of the flight recorder.
_RECORDS = packaged_spec(__package__, "records")
_UNEQUAL = packaged_spec(__package__, "unequal")
_GROUP = ("recorder", "kind", "collective", "group", "group_size", "size_bytes")
_FLIGHT_RECORDER = "flight recorder"
_UNEQUAL_SIZES = re.compile("(?i)all_?to_?all|gather|scatter")  #: Collectives whose sizes may differ between ranks.
_RANKS_SHOWN = 8  #: Of the minority, in the text of a row.


def no_records() -> pl.DataFrame:
    """The table without rows."""
    return empty_frame(_RECORDS)


def collective_records(run: Run) -> pl.DataFrame:
    """The collectives of a run that RCCL Inspector or the flight recorder logged, with host and pid; often none."""
    if _TABLE not in run.extra_names:
        return no_records()
    processes = processes_of(run).select("process", "host", "pid")
    rows = run.table(_TABLE).join(processes, on="process", how="left", maintain_order="left")
    return rows.select(_RECORDS.names)


def logged_collectives(records: pl.DataFrame) -> pl.DataFrame:
    """Sums of the records by collective, group and size."""
    rows = records.with_columns(kind=kind_of(pl.col("collective"), pl.lit("")))
    is_timed = pl.col("duration_ns") > 0
    sums = rows.group_by(_GROUP).agg(
        rank_count=pl.col("rank").n_unique().cast(pl.Int64),
        calls=pl.len().cast(pl.Int64),
        timed_count=is_timed.sum().cast(pl.Int64),
        unfinished_count=(pl.col("state") != "completed").sum().cast(pl.Int64),
        duration_median_ns=pl.col("duration_ns").filter(is_timed).median(),
        shortest_ns=pl.col("duration_ns").filter(is_timed).min(),
        total_ns=pl.col("duration_ns").filter(is_timed).sum(),
    )
    # Sends and receives have numbers of their own, except in a log of RCCL, whose calls are all counted together.
    numbers, own_numbers = pl.col("sequence"), pl.col("is_point_to_point") & (pl.col("recorder") != RCCL)
    by_counter = rows.drop_nulls("sequence").group_by("recorder", "group", own_numbers=own_numbers)
    gaps = by_counter.agg(unlogged_count=numbers.max() - numbers.min() + 1 - numbers.n_unique().cast(pl.Int64))
    gaps = gaps.group_by("recorder", "group").agg(pl.col("unlogged_count").sum())
    factor = pl.when(pl.col("kind").is_not_null() & (pl.col("group_size") > 1)).then(bus_factor(pl.col("group_size")))
    bus_bytes = pl.col("size_bytes") * factor * 1e9
    return (
        sums.join(gaps, on=["recorder", "group"], how="left", nulls_equal=True)
        .with_columns(
            pl.col("unlogged_count").fill_null(0).cast(pl.Int64),
            bus_bytes_per_second=pl.when(pl.col("total_ns") > 0).then(
                bus_bytes * pl.col("timed_count") / pl.col("total_ns")
            ),
            bus_bytes_per_second_max=bus_bytes / pl.col("shortest_ns"),
        )
        .sort(-pl.col("total_ns"), -pl.col("calls"), *_GROUP, nulls_last=True)
        .drop("total_ns")
        .select(*_GROUP, pl.exclude(_GROUP))
    )


def unequal_ranks(records: pl.DataFrame) -> pl.DataFrame:
    """The first call of each group at which the ranks of the dumps differ: some did not call it, or called another."""
    rows = records.filter(pl.col("recorder") == _FLIGHT_RECORDER, ~pl.col("is_point_to_point"))
    rows = rows.drop_nulls(["sequence", "rank"])
    rows = rows.unique(["group", "sequence", "rank"], keep="last", maintain_order=True)
    differences = filter(None, (_first_difference(calls) for _, calls in rows.group_by("group", maintain_order=True)))
    return pl.DataFrame(differences, schema=_UNEQUAL.dtypes, orient="row")


def _first_difference(group: pl.DataFrame) -> tuple[object, ...] | None:
    """The first call of a group at which ranks differ, as a row of table `unequal`; None = they do not."""
    # The flight recorder is a ring buffer: what a rank did before its first record is not known.
    starts = dict(group.group_by("rank").agg(pl.col("sequence").min()).iter_rows())
    for (sequence,), calls in group.sort("sequence").group_by("sequence", maintain_order=True):
        present = {row["rank"]: row for row in calls.iter_rows(named=True)}
        absent = [rank for rank, start in starts.items() if rank not in present and start < int(str(sequence))]
        reason, minority = _difference(present, absent)
        if not minority:
            continue
        common = Counter(row["collective"] for row in present.values()).most_common(1)[0][0]
        ranks = [f"{rank} ({_did(present.get(rank), reason)})" for rank in sorted(minority)]
        first = min(minority)  # its call, or the last one that it made before this one, says where it was
        last = present.get(first) or group.filter(pl.col("rank") == first).sort("sequence").row(-1, named=True)
        counts = (len(minority), len(starts) - len(minority))
        return (group["group"][0] or "?", sequence, common, reason, some_of(ranks, _RANKS_SHOWN), *counts, last["site"])
    return None


def _difference(present: dict[int, dict[str, object]], absent: list[int]) -> tuple[str, list[int]]:
    """The reason (of table `unequal`) why ranks differ at one call, and the minority of them; no ranks = none differ.

    `present` are the records of the ranks that made the call, `absent` the ranks that did not.
    """
    if absent:
        return ("called by few", list(present)) if len(absent) > len(present) else ("not called", absent)
    for column, label in (("collective", "collective"), ("shapes", "sizes"), ("state", "state")):
        if column == "shapes" and any(_UNEQUAL_SIZES.search(str(row["collective"])) for row in present.values()):
            continue
        values = Counter(row[column] for row in present.values())
        if len(values) > 1:
            usual = values.most_common(1)[0][0]
            if column == "state":
                usual = "completed" if "completed" in values else "started"
            return label, [rank for rank, row in present.items() if row[column] != usual]
    return "", []


def _did(call: dict[str, object] | None, reason: str) -> str:
    """Words for the record of a rank at a call where ranks differ for this reason."""
    if call is None:
        return "never called it"
    return "called it" if reason == "called by few" else str(call[{"sizes": "shapes"}.get(reason, reason)])[:200]
