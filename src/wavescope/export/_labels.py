"""Names of processes, agents and kinds of calls, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

__all__ = ["agent_label", "category_of", "process_label", "program_of"]

_CATEGORIES = {
    "HIP": "HIP_RUNTIME_API",
    "HSA": "HSA_CORE_API",
    "RCCL": "RCCL_API",
    "ROCDECODE": "ROCDECODE_API",
    "ROCJPEG": "ROCJPEG_API",
}
"""Domains of other formats -> the category that AMD's formats have for them."""


def category_of(marker: str) -> pl.Expr:
    """The category of calls for formats whose readers take the domain from its beginning; `marker` is that of markers.

    Examples
    --------
    >>> import polars as pl
    >>> calls = pl.DataFrame({"category": ["cuda_runtime", "HSA_AMD_EXT_API", None], "domain": ["HIP", "HSA", "RCCL"]})
    >>> calls.select(category_of("MARKER_CORE_API")).to_series().to_list()
    ['HIP_RUNTIME_API', 'HSA_AMD_EXT_API', 'RCCL_API']
    """
    import polars as pl

    category, domain = (pl.col(name).cast(pl.String) for name in ("category", "domain"))
    begins = category.str.extract("^([^_]*)").str.to_uppercase() == domain
    general = pl.when(domain == "MARKER").then(pl.lit(marker)).otherwise(domain.replace(_CATEGORIES))
    is_own = category.is_not_null() & begins.fill_null(value=True)
    return pl.when(is_own).then(category.replace(_CATEGORIES)).otherwise(general)


def program_of(process: Mapping[str, Any]) -> str:
    """The name of the program a process runs; empty when not known.

    Examples
    --------
    >>> program_of({"command": "/usr/bin/python3 train.py"})
    'python3'
    """
    words = str(process["command"] or "").split()
    return words[0].rpartition("/")[2] if words else ""


def process_label(process: Mapping[str, Any], hostnames: Sequence[str | None]) -> str:
    """`rank 3: python3 (node001)`, as far as it is known.

    Examples
    --------
    >>> process_label({"rank": 3, "command": "/usr/bin/python3 x.py", "pid": 7, "node": 0}, ["node001"])
    'rank 3: python3 (node001)'
    >>> process_label({"rank": None, "command": None, "pid": 7, "node": None}, [])
    'process 7'
    """
    rank = "" if process["rank"] is None else f"rank {process['rank']}: "
    hostname = None if process["node"] is None else hostnames[process["node"]]
    program = program_of(process) or f"process {process['pid']}"
    return rank + program + (f" ({hostname})" if hostname else "")


def agent_label(agent: Mapping[str, Any]) -> str:
    """`GPU 0 gfx942`, `CPU 1`.

    Examples
    --------
    >>> agent_label({"kind": "GPU", "type_index": 0, "logical_index": 2, "agent_id": 2, "target": "gfx942"})
    'GPU 0 gfx942'
    """
    index = next((agent[name] for name in ("type_index", "logical_index", "agent_id") if agent[name] is not None), "")
    what = agent["target"] if agent["kind"] != "CPU" else ""
    return f"{agent['kind'] or 'Agent'} {index}" + (f" {what}" if what else "")
