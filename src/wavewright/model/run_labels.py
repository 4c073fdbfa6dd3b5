"""Names of processes and agents to show, the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def program_of(process: Mapping[str, Any]) -> str:
    """The name of the program a process runs; empty = unknown."""
    words = str(process["command"] or "").split()
    return words[0].rpartition("/")[2] if words else ""


def process_label(process: Mapping[str, Any], hostnames: Sequence[str | None]) -> str:
    """`rank 3: python3 (node001)`, as far as recorded.

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

    >>> agent_label({"kind": "GPU", "type_index": 0, "logical_index": 2, "agent_id": 2, "target": "gfx942"})
    'GPU 0 gfx942'
    """
    index = next((agent[name] for name in ("type_index", "logical_index", "agent_id") if agent[name] is not None), "")
    target = agent["target"] if agent["kind"] != "CPU" else ""
    return f"{agent['kind'] or 'Agent'} {index}" + (f" {target}" if target else "")
