"""The time of a run in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.run.contents.summary import GPU_DOMAINS, Summary
from wavewright.analysis.run.measures.statistics import EXACT_VALUES, QUANTILE_ERROR
from wavewright.analysis.run.select.identities import file_of
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, size
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.brief_names import brief, brief_kernel, brief_kernels
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import Column
from wavewright.words.run.place_names import node_name, place_words
from wavewright.writers.terminal.fitted_table import WIDE

_MOST = 0.8  #: The verdict counts the kernels and copies, longest first, that take this share of the GPU time.
_NAMED = 3  #: How many of them it names.
_IDLE = 0.5  #: If GPUs are busy for a smaller share of the wall time, that is said first.
_VERY_WIDE = 150  #: Console width at which all figures are shown next to a readable name.
_NAMES = {"KERNEL": "kernels", "COPY": "copies", "ALLOCATION": "allocations", "SCRATCH": "scratch allocations"}


def summary_report(
    answer: Summary, *, width: int = WIDE, limit: int = 20, is_window: bool = False
) -> Iterator[AnyBlock]:
    """The report of `wavewright summary`."""
    if not answer.domains.height:
        yield headline("no event in this window" if is_window else "no event was recorded")
        return
    if answer.busy_share is not None and answer.busy_share < _IDLE:
        idle = percent(1 - answer.busy_share)
        yield sentence((f"GPUs are idle {idle} of the wall time; `wavewright gaps` tells why", "bold"))
    yield sentence((_verdict(answer), "bold"))
    yield Sentence(_scope(answer))
    yield GAP
    yield _domain_table(answer, width=width, limit=limit)
    for domain in answer.domains["domain"].unique(maintain_order=True):
        yield GAP
        yield _thing_table(answer, domain, width=width, limit=limit)
    copies = answer.domains.filter(pl.col("domain") == "COPY")
    calls, sized = (int(copies[name].sum()) for name in ("calls", "sized_calls"))
    if 0 < sized < calls:
        yield GAP
        note = f"{sized:,} of {counted(calls, 'copies')} have a recorded size: bytes and rates are of these"
        yield sentence((note, "dim"))
    if not answer.things["is_exact"].all():
        yield GAP
        note = f"medians of more than {EXACT_VALUES:,} different durations are at most {percent(QUANTILE_ERROR, 2)} off"
        yield sentence((note, "dim"))


def _verdict(answer: Summary) -> str:
    """The thing with most of the GPU time; where there is none, of the time of calls."""
    on_gpu = answer.things.filter(pl.col("domain").is_in(GPU_DOMAINS))
    sums = on_gpu.group_by("domain", "name").agg(pl.col("total_ns").sum())
    sums = sums.filter(pl.col("total_ns") > 0).sort(-pl.col("total_ns"), "domain", "name")
    if not sums.height or not answer.gpu_ns:
        calls = counted(int(answer.things["calls"].sum()), "calls")
        start = "the GPU work has no times:" if on_gpu.height else "no GPU work was recorded, but"
        return f"{start} {calls}"
    reached = (sums["total_ns"].cum_sum() / answer.gpu_ns).to_list()
    count = next((n for n, share in enumerate(reached, 1) if share >= _MOST), sums.height)
    leading = sums.head(count)
    parts = []
    for domain, what in (("KERNEL", "kernels"), ("COPY", "kinds of copy")):
        leading_count, all_count = (rows.filter(pl.col("domain") == domain).height for rows in (leading, sums))
        if leading_count:
            parts.append(f"{leading_count:,} of {counted(all_count, what)}")
    names, totals = (leading.head(_NAMED)[column].to_list() for column in ("name", "total_ns"))
    labels = zip(brief_kernels(names, 40), totals, strict=True)
    named = ", ".join(f"{name} {percent(total / answer.gpu_ns)}" for name, total in labels)
    more = ", ..." if count > _NAMED else ""
    share = percent(reached[count - 1])
    return f"{share} of {duration(answer.gpu_ns)} GPU time is in {' and '.join(parts)}: {named}{more}"


def _scope(answer: Summary) -> str:
    processes = answer.processes
    file_count = processes.select(file_of(pl.col("run"))).n_unique()
    sentence = counted(processes.height, "processes") + place_words(processes["host"], file_count)
    sentence += f", {counted(answer.gpu_count, 'GPUs')} used, wall time {duration(answer.wall_ns)}"
    sentence += f", {ranks:,} ranks" if (ranks := processes["rank"].drop_nulls().n_unique()) > 1 else ""
    busy = f", GPUs busy {percent(answer.busy_share)} of the wall time"
    return sentence if answer.busy_share is None else sentence + busy


def _domain_table(answer: Summary, *, width: int, limit: int) -> Table:
    has_bytes = answer.domains["bytes_total"].null_count() < answer.domains.height
    what = "domains" if answer.by == "all" else "rows"
    return declared_table(
        "run/summary/domain",
        answer.domains,
        limit=limit,
        rows=what,
        group=_group_columns(answer),
        is_very_wide=width >= _VERY_WIDE,
        bytes=_bytes,
        has_bytes=has_bytes,
    )


def _thing_table(answer: Summary, domain: str, *, width: int, limit: int) -> Table:
    rows = answer.things.filter(pl.col("domain") == domain)
    if answer.by != "all":
        rows = rows.sort(-pl.col("total_ns"), maintain_order=True)
    has_bytes = rows["bytes_total"].null_count() < rows.height
    rows = rows.with_columns(
        bytes_mean=pl.when(pl.col("sized_calls") > 0).then(pl.col("bytes_total") / pl.col("sized_calls"))
    )
    what = _NAMES.get(domain, f"{printable(domain)} calls" if domain != "MARKER" else "marker ranges")
    table = declared_table(
        "run/summary/thing",
        rows,
        limit=limit,
        rows=what,
        group=_group_columns(answer),
        is_very_wide=width >= _VERY_WIDE,
        bytes=_bytes,
        has_bytes=has_bytes,
        with_rate=domain == "COPY" and has_bytes,
        name=lambda row: _name(row["name"], domain),
    )
    return table if domain in _NAMES else replace(table, note="CPU time, nested calls count each")


def _name(name: str, domain: str) -> str:
    """Kernels without their parameters; calls whole, as what is in brackets is the line."""
    return brief_kernel(name, 200) if domain in GPU_DOMAINS else brief(name, 200)


def _bytes(row: dict[str, Any]) -> str:
    """Marked where some calls have no size."""
    return ("≥ " if 0 < row["sized_calls"] < row["calls"] else "") + size(row["bytes_total"])


def _group_columns(answer: Summary) -> list[Column]:
    """Columns that identify the groups: the host only if there are several, the pid only if ranks are not enough."""
    hidden = {"run"}
    if answer.processes["host"].n_unique() == 1:
        hidden.add("host")
    if answer.processes["rank"].null_count() == 0 and answer.processes["rank"].is_unique().all():
        hidden.add("pid")
    names = answer.columns[: answer.columns.index("domain")]
    return [_group_column(name) for name in names if name not in hidden]


def _group_column(name: str) -> Column:
    def cell(row: dict[str, Any]) -> str:
        value = row[name]
        return "-" if value is None else node_name(value) if name in ("path", "host") else printable(str(value))

    handle = "r" if name == "rank" else ""
    return Column("file" if name == "path" else name, cell, role="words", is_name=name == "path", handle=handle)
