"""Names of kinds of calls and numbers of processes and threads, the same in every format."""

from __future__ import annotations

import polars as pl

from wavewright.errors import UsageError
from wavewright.model.run import Run


def require_run(document: object, module: str) -> None:
    """Check that a document is a run; thread traces have a function of the same name in `module`.

    Raises `UsageError` when it is none.
    """
    if not isinstance(document, Run):
        problem = f"a {type(document).__name__} is not a run"
        raise UsageError(problem, advice=f"thread traces are written by wavewright.export.trace.{module}")


#: Domains of other formats -> the category that AMD's formats have for them.
_CATEGORIES = {
    "HIP": "HIP_RUNTIME_API",
    "HSA": "HSA_CORE_API",
    "RCCL": "RCCL_API",
    "ROCDECODE": "ROCDECODE_API",
    "ROCJPEG": "ROCJPEG_API",
}


def category_of(marker: str) -> pl.Expr:
    """The category of calls for formats whose readers take the domain from its start; `marker` is the one of markers.

    >>> import polars as pl
    >>> calls = pl.DataFrame({"category": ["cuda_runtime", "HSA_AMD_EXT_API", None], "domain": ["HIP", "HSA", "RCCL"]})
    >>> calls.select(category_of("MARKER_CORE_API")).to_series().to_list()
    ['HIP_RUNTIME_API', 'HSA_AMD_EXT_API', 'RCCL_API']
    """
    category, domain = (pl.col(name).cast(pl.String) for name in ("category", "domain"))
    begins = category.str.extract("^([^_]*)").str.to_uppercase() == domain
    general = pl.when(domain == "MARKER").then(pl.lit(marker)).otherwise(domain.replace(_CATEGORIES))
    is_own = category.is_not_null() & begins.fill_null(value=True)
    return pl.when(is_own).then(category.replace(_CATEGORIES)).otherwise(general)


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
