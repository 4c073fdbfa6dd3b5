"""Regions that are open on a thread at given times: call sites (the innermost names) and whole stacks.

`call_sites` takes any number of moments, `open_names` some hundreds, of which it lists every open region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from wavewright.analysis.run.calls.launches import API_DOMAINS
from wavewright.analysis.run.measures.event_rows import rows_where, timed
from wavewright.model.run import Run

NOT_OPEN = (*API_DOMAINS, "TOOL")  #: Domains that say nothing about the application.
SEPARATOR = " > "  #: Between the names of a stack.
UNKNOWN = "not recorded"
#: Domains of calls into runtimes: such a call is a site only where no other region is open around it.
_RUNTIMES = ("HIP", "HSA", "CUDA", "KFD")
_SITE_NAMES_MAX = 3  #: Innermost names of a stack that make a call site.


def call_sites(run: Run, moments: pl.DataFrame) -> pl.Series:
    """The site of each row of `moments` (`thread`, `time_ns`): the innermost names, outermost first.

    A region is open from its start to its end, both included. Runtime calls are a site where nothing else is open.
    """
    sorted_moments = moments.select("thread", "time_ns").with_row_index("row").drop_nulls().sort("thread", "time_ns")
    threads = sorted_moments["thread"].unique()
    columns = ["thread", "domain", "name", "start_ns", "end_ns"]
    sites: list[str] = [UNKNOWN] * moments.height
    if not sorted_moments.height:
        return pl.Series(sites, dtype=pl.String)
    regions = timed(rows_where(run, "regions", columns, pl.col("thread").is_in(threads.implode())))
    regions = regions.sort("thread", "start_ns", "end_ns", descending=[False, False, True])
    is_runtime = pl.col("domain").cast(pl.String).is_in(_RUNTIMES).fill_null(value=False)
    regions = regions.with_columns(is_runtime=is_runtime, name=pl.col("name").cast(pl.String).fill_null("?"))
    of_thread = regions.partition_by("thread", as_dict=True)
    for (thread,), times in sorted_moments.partition_by("thread", as_dict=True).items():
        if (thread,) in of_thread:
            candidates, moments_ns = of_thread[(thread,)], times["time_ns"]
            until = moments_ns.search_sorted(candidates["end_ns"], side="right")
            is_open = until > moments_ns.search_sorted(candidates["start_ns"], side="left")  # at one of the times
            candidates = candidates.filter(is_open)
            rows = zip(times["row"].to_list(), moments_ns.to_list(), strict=True)
            for row, site in _sites_on_thread(candidates, rows):
                sites[row] = site
    return pl.Series(sites, dtype=pl.String)


def _sites_on_thread(regions: pl.DataFrame, rows: Iterator[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """(row, site) for each (row, time) of one thread; regions and times are sorted."""
    starts, ends = regions["start_ns"].to_list(), regions["end_ns"].to_list()
    names, runtime = regions["name"].to_list(), regions["is_runtime"].to_list()
    stack: list[int] = []
    next_region, site_of_stack = 0, dict[tuple[int, ...], str]()
    for row, time in rows:
        while next_region < len(starts) and starts[next_region] <= time:
            while stack and ends[stack[-1]] < starts[next_region]:
                stack.pop()
            stack.append(next_region)
            next_region += 1
        while stack and ends[stack[-1]] < time:
            stack.pop()
        open_regions = [index for index in stack if ends[index] >= time]  # regions may cross
        inner = [index for index in open_regions if not runtime[index]][-_SITE_NAMES_MAX:] or open_regions[:1]
        key = tuple(inner)
        if key not in site_of_stack:
            site_of_stack[key] = SEPARATOR.join(names[index] for index in inner) or UNKNOWN
        yield row, site_of_stack[key]


def open_names(regions: pl.DataFrame, moments: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """`moment` and the `names` of the regions that are open at it, outermost first; moments without any are left out.

    `moments` has `moment` (a number), `time_ns` and the columns `by` of a thread.
    """
    times = moments["time_ns"].sort()
    first, after = (times.search_sorted(regions[name], side="left") for name in ("start_ns", "end_ns"))
    ordered = (
        regions.filter(first < after)
        .join(moments, on=by)
        .filter(pl.col("start_ns") <= pl.col("time_ns"), pl.col("time_ns") < pl.col("end_ns"))
        .with_columns(pl.col("name").cast(pl.String).fill_null(""))
        .sort("moment", "start_ns", -pl.col("end_ns"), maintain_order=True)
    )
    return ordered.group_by("moment", maintain_order=True).agg(names="name")
