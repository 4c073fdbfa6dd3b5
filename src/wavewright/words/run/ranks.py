"""Balance of the work of ranks in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.run.ranks.ranks import Ranks
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Sentence, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import process_name, rank_limit

_EVEN = 0.02  #: Cost as a share of the mean below which the work counts as evenly spread.


def ranks_report(answer: Ranks, *, limit: int | None = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright ranks`: what costs most comes first."""
    lines = [(answer.cost_ns, _imbalance(answer)), (_mean_wait(answer), _waiting(answer))]
    for number, (_, line) in enumerate(sorted(lines, key=lambda line: -line[0])):
        if line:
            yield sentence((line, "" if number else "bold"))
    if not answer.processes.height:
        return
    yield GAP
    shown = rank_limit(limit)
    processes = answer.processes
    if shown is not None and processes.height > shown:
        processes = processes.sort("last_count", "compute_ns", descending=True, maintain_order=True)
    largest = max(answer.processes["compute_ns"].max() or 0, 1)
    yield declared_table(
        "run/ranks/process",
        processes.with_columns(compute_share=pl.col("compute_ns") / largest),
        limit=shown,
        has_hosts=bool((processes["host"].fill_null("") != "").any()),
        has_ranks=processes["rank"].null_count() < processes.height,
    )
    yield from caveat_lines(answer.caveats)
    yield from table_below("run/ranks/kernel", answer.kernels, limit=limit, slowest=who_of)
    if answer.collectives.height:
        yield GAP
        yield declared_table(
            "run/ranks/collective",
            answer.collectives,
            limit=limit,
            calls=lambda row: f"{row['calls']:,}{'' if row['is_complete'] else '*'}",
            most_often_last=lambda row: (
                "not known" if row["rule"] == "unknown" else f"{who_of(row)} ({row['last_count']:,}x)"
            ),
            collective=_collective,
        )
        if not answer.collectives["is_complete"].all():
            yield sentence(("* some calls have no certain partner on other ranks and are left out", "bold yellow"))


def caveat_lines(caveats: tuple[Caveat, ...]) -> Iterator[Sentence]:
    """Reasons not to take the numbers at face value, a line each."""
    for caveat in caveats:
        yield sentence((f"{caveat.sentence}; {caveat.advice}", "bold yellow"))


def _imbalance(answer: Ranks) -> str:
    count = answer.processes.height
    if not count:
        return "no process was recorded"
    if count == 1:
        return "one process: there is nothing to compare; give the files of all ranks"
    if not answer.processes["compute_ns"].max():
        return f"none of {count:,} processes ran a kernel"
    if answer.imbalance is None:
        return f"each of {count:,} processes runs other kernels: their compute times are not compared"
    compared = answer.processes.drop_nulls("deviation").with_columns(
        excess=pl.col("compute_ns") - pl.col("compute_ns").mean().over("peers")
    )
    slowest = compared.sort("excess", descending=True, maintain_order=True).row(0, named=True)
    peers = compared.filter(pl.col("peers") == slowest["peers"]).height
    others = counted(peers, "processes") + (" with the same kernels" if peers < count else "")
    headline = f"{who_of(slowest)} computes longest, {duration(slowest['compute_ns'])}"
    share = answer.imbalance - 1
    if share < _EVEN:
        return f"the work is even over {others}: {headline}, {percent(share)} more than the mean"
    return f"{headline}: {percent(share)} more than the mean of {others}, which costs {duration(answer.cost_ns)}"


def _mean_wait(answer: Ranks) -> float:
    """Of the processes with collectives: the mean that `wavewright collectives` gives."""
    return answer.waited_ns / max(1, answer.processes.filter(pl.col("collective_ns") > 0).height)


def _waiting(answer: Ranks) -> str:
    if not answer.waited_ns:
        return ""
    late = answer.processes.sort("last_count", descending=True, maintain_order=True).row(0, named=True)
    calls = int(answer.processes["last_count"].sum())
    return (
        f"in collectives a process waits {duration(_mean_wait(answer))} on average for those that arrive later; "
        f"{who_of(late)} arrives last in {late['last_count']:,} of {calls:,} calls{_by_name(answer, late)}"
        f"{why_late(answer.causes, late)}"
    )


#: Cause of a late rank -> what it means.
_WHY: dict[str, str] = packaged("texts.toml", __package__)["late_ranks"]


def why_late(causes: pl.DataFrame, late: dict[str, Any]) -> str:
    """The reason why a rank is late, with the share of it."""
    rows = causes.filter(*(pl.col(name).eq_missing(late[name]) for name in ("host", "pid", "rank", "run")))
    if not rows.height or rows["cause_share"][0] is None:
        return ""
    row = rows.row(0, named=True)
    return f"; the largest part of its delay ({percent(row['cause_share'])}): {_WHY[row['cause']]}"


def _by_name(answer: Ranks, late: dict[str, Any]) -> str:
    """Collectives of which a rank is the last most often, where their names were recorded."""
    latest = answer.collectives.filter(pl.col("collective").is_not_null() & pl.col("is_complete")).filter(
        *(pl.col(name).eq_missing(late[name]) for name in ("host", "pid", "rank", "run") if name in late)
    )
    named = latest.group_by("collective", maintain_order=True).agg(pl.col("last_count", "calls").sum())
    parts = [f"{printable(name)} {last:,} of {calls:,}" for name, last, calls in named.head(3).iter_rows()]
    return f" ({', '.join(parts)})" if parts else ""


def who_of(row: dict[str, Any]) -> str:
    """The label of a process, with its node."""
    who = process_name(row["rank"], row["pid"])
    who = who if row["rank"] is not None else f"pid {who}"
    return f"{who} on {printable(row['host'])}" if row["host"] else who


def _collective(row: dict[str, Any]) -> str:
    kernel = brief_kernel(row["name"], 200)
    return f"{printable(row['collective'])} ({kernel})" if row["collective"] else kernel
