"""Labels of GPUs and processes, the same in all reports about runs."""

from __future__ import annotations

from wavescope.report.kit.labels import Placed
from wavescope.report.kit.tables import printable


def gpu_name(node: str | None, gpu: int | None, *, with_node: bool) -> str:
    """The label of a GPU, with its node if there are several; where no host name was recorded, with its file.

    Examples
    --------
    >>> gpu_name("n7", 2, with_node=False), gpu_name("n7", None, with_node=True)
    ('GPU 2', 'n7 GPU ?')
    >>> gpu_name("/data/run.db", 0, with_node=True)
    'run.db GPU 0'
    """
    name = f"GPU {'?' if gpu is None else gpu}"
    if not with_node:
        return name
    place = printable(node or "?")
    return Placed(place, f" {name}") if "/" in place else f"{place} {name}"


def node_name(node: str | None) -> str:
    """The label of a node; where no host name was recorded, of its file.

    Examples
    --------
    >>> node_name("n7"), node_name("/data/run.db"), node_name(None)
    ('n7', 'run.db', '?')
    """
    place = printable(node or "?")
    return Placed(place) if "/" in place else place


def process_name(rank: int | None, pid: int | None) -> str:
    """The label of a process: its rank if recorded, else its pid; some formats record neither.

    Examples
    --------
    >>> process_name(3, 4711), process_name(None, 4711), process_name(None, None)
    ('rank 3', '4711', '?')
    """
    if rank is not None:
        return f"rank {rank}"
    return "?" if pid is None else str(pid)
