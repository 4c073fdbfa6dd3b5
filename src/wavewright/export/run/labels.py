"""Shared by the formats of runs: categories of calls, numbers of processes and threads, the GPU of a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from wavewright.errors import UsageError
from wavewright.model.run import Run

#: Domains of other formats -> the category that AMD's formats have for them.
_CATEGORIES = {
    "HIP": "HIP_RUNTIME_API",
    "HSA": "HSA_CORE_API",
    "RCCL": "RCCL_API",
    "ROCDECODE": "ROCDECODE_API",
    "ROCJPEG": "ROCJPEG_API",
}


def require_run(document: object, module: str) -> None:
    """Check that a document is a run; thread traces have a function of the same name in `module`.

    Raises `UsageError` when it is none.
    """
    if not isinstance(document, Run):
        problem = f"a {type(document).__name__} is not a run"
        raise UsageError(problem, advice=f"thread traces are written by wavewright.export.trace.{module}")


def category_of(marker: str) -> pl.Expr:
    """The category of calls, from whose start readers of AMD's formats take the domain; `marker` is that of markers.

    >>> import polars as pl
    >>> calls = pl.DataFrame({"category": ["cuda_runtime", "HSA_AMD_EXT_API", None], "domain": ["HIP", "HSA", "RCCL"]})
    >>> calls.select(category_of("MARKER_CORE_API")).to_series().to_list()
    ['HIP_RUNTIME_API', 'HSA_AMD_EXT_API', 'RCCL_API']
    """
    category, domain = (pl.col(name).cast(pl.String) for name in ("category", "domain"))
    starts_with_domain = category.str.extract("^([^_]*)").str.to_uppercase() == domain
    of_domain = pl.when(domain == "MARKER").then(pl.lit(marker)).otherwise(domain.replace(_CATEGORIES))
    is_usable = category.is_not_null() & starts_with_domain.fill_null(value=True)
    return pl.when(is_usable).then(category.replace(_CATEGORIES)).otherwise(of_domain)


def gpu_of_copies(run: Run, copies: pl.DataFrame) -> pl.Series:
    """The agent that each copy is shown on: its destination if that is a GPU, else its source."""
    is_gpu = run.read("agents", ["kind"])["kind"].ne_missing("CPU")
    to_gpu = is_gpu.gather(copies["dst_agent"]).fill_null(value=False)
    return copies["dst_agent"].zip_with(to_gpu, copies["src_agent"].fill_null(copies["dst_agent"])).alias("agent")


def per_distinct_row(keys: pl.DataFrame, make: Callable[..., Any], dtype: type[pl.DataType]) -> pl.Series:
    """`make(*row)` for each row of `keys`, called once for equal rows.

    >>> import polars as pl
    >>> per_distinct_row(pl.DataFrame({"thread": [7, 8, 7]}), lambda thread: 10 * thread, pl.Int64).to_list()
    [70, 80, 70]
    """
    distinct = keys.unique(maintain_order=True)
    made = distinct.with_columns(made=pl.Series([make(*row) for row in distinct.iter_rows()], dtype=dtype))
    return keys.join(made, on=keys.columns, how="left", maintain_order="left", nulls_equal=True)["made"]


def process_numbers(run: Run) -> pl.DataFrame:
    """`process` with `rank`: the rank where all processes have different ones, else 0, 1, 2, ..."""
    processes = run.read("processes", ["process", "rank"])
    ranks = processes["rank"]
    if ranks.null_count() or ranks.n_unique() < ranks.len():
        processes = processes.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32))
    return processes


def thread_numbers(run: Run) -> pl.DataFrame:
    """`thread` with `number`: 0, 1, 2, ... within its process, in the order of thread ids."""
    threads = run.read("threads", ["thread", "process", "tid"]).sort("process", "tid", "thread")
    return threads.select("thread", number=pl.int_range(pl.len(), dtype=pl.Int64).over("process"))
