"""The environment of a process: its rank, and its variables with their values masked."""

from __future__ import annotations

import json

from wavewright.base.bounds import integer_of
from wavewright.base.toml import packaged

MASKED = "***"
#: Variables with the rank; the MPI library's take precedence over the job launcher's.
_RANKS: list[str] = packaged("reading.toml", __package__)["ranks"]


def variables(text: str | None) -> dict[str, str]:
    """The variables of stored JSON; none when it cannot be read.

    >>> variables('{"HOME": "/root"}')
    {'HOME': '/root'}
    """
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in document.items()}


def rank_of(environment: dict[str, str]) -> int | None:
    """The rank of a process in its job; None = unknown.

    >>> rank_of({"SLURM_PROCID": "0", "PMIX_RANK": "3"})
    3
    """
    for name in _RANKS:
        rank = integer_of(environment.get(name, "").strip(), below=1 << 31)
        if rank is not None:
            return rank
    return None
