"""Labels of GPUs and processes, the same in all reports about runs."""

from __future__ import annotations

from wavescope.report.kit.tables import printable


def gpu_name(node: str | None, gpu: int | None, *, with_node: bool) -> str:
    """The label of a GPU, with its node if there are several.

    Examples
    --------
    >>> gpu_name("n7", 2, with_node=False), gpu_name("n7", None, with_node=True)
    ('GPU 2', 'n7 GPU ?')
    """
    name = f"GPU {'?' if gpu is None else gpu}"
    return f"{printable(node or '?')} {name}" if with_node else name


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
