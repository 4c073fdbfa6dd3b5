"""Labels of GPUs and processes, the same in all reports about runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wavewright.base.shown import printable
from wavewright.model.blocks import Placed
from wavewright.words.kit.brief_names import brief_paths

_USUAL_ROWS, _FEWEST_RANKS = 20, 64  #: The default limit of rows, and that of tables with a row per rank.


def rank_limit(limit: int | None) -> int | None:
    """Rows of a table with a row per rank: more than of others, unless fewer than usual are asked for; None = all.

    >>> rank_limit(20), rank_limit(5), rank_limit(100), rank_limit(None)
    (64, 5, 100, None)
    """
    return limit if limit is None or limit < _USUAL_ROWS else max(limit, _FEWEST_RANKS)


def gpu_name(node: str | None, gpu: int | None, *, with_node: bool) -> str:
    """The label of a GPU, with its node if there are several; where no host name was recorded, with its file.

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


def gpu_cell(*, several: bool) -> Callable[[dict[str, Any]], str]:
    """The cell of a table that names the GPU of its row, with its node if there are several."""
    return lambda row: gpu_name(row["node"], row["gpu"], with_node=several)


def gpu_names(gpus: Sequence[tuple[str | None, int | None]], *, with_node: bool) -> list[str]:
    """The labels of nodes and numbers of GPUs for text outside of tables, where paths are told apart.

    >>> gpu_names([("/data/a/run.db", 0), ("/data/b/run.db", 0)], with_node=True)
    ['a GPU 0', 'b GPU 0']
    """
    labels = [gpu_name(node, gpu, with_node=with_node) for node, gpu in gpus]
    brief = brief_paths(label.path for label in labels if isinstance(label, Placed))
    return [brief[label.path] + label.tail if isinstance(label, Placed) else label for label in labels]


def node_name(node: str | None) -> str:
    """The label of a node; where no host name was recorded, of its file."""
    place = printable(node or "?")
    return Placed(place) if "/" in place else place


def place_words(nodes: Iterable[str | None], file_count: int) -> str:
    """Places of processes or GPUs: the number of nodes, or, where no host name was recorded, of files.

    >>> place_words(["n1", "n2", "n1"], 3), place_words(["n1", None], 2), place_words(["", ""], 2), place_words([""], 1)
    (' on 2 nodes', ' on n1 and unknown nodes', ' in 2 files', '')
    """
    named = {node for node in nodes if node and "/" not in node}
    if not named:
        return f" in {file_count:,} files" if file_count > 1 else ""
    is_known = all(node and "/" not in node for node in nodes)
    where = f" on {printable(next(iter(named)))}" if len(named) == 1 else f" on {len(named):,} nodes"
    return where if is_known else f"{where} and unknown nodes"


def process_name(rank: int | None, pid: int | None) -> str:
    """The label of a process: its rank if recorded, else its pid; some formats record neither.

    >>> process_name(3, 4711), process_name(None, 4711), process_name(None, None)
    ('rank 3', '4711', '?')
    """
    if rank is not None:
        return f"rank {rank}"
    return "?" if pid is None else str(pid)


def process_cell(row: dict[str, Any]) -> str:
    """The cell of a table that names the process of its row."""
    return process_name(row["rank"], row["pid"])


def process_label(rank: int | None, pid: int | None) -> str:
    """The label of a process where nothing beside it says that a number is a process id."""
    return process_name(rank, pid) if rank is not None or pid is None else f"pid {pid}"
