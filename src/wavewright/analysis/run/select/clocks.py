"""Clocks of the nodes of a run: first and last event of each node; times of results count from the first.

Several machines may be one node to the user: files without host name are brought together by `node_names`, and such
machines share the extent of all their events.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.select.gpus import machines
from wavewright.analysis.run.select.nodes import node_names, renamed
from wavewright.analysis.run.select.recording import Recording, recording
from wavewright.model.answer import Answer
from wavewright.model.run import Run


@dataclass(frozen=True, eq=False)
class NodeClocks(Answer, package=__package__):
    """Times at which the nodes of a run were observed."""

    nodes: pl.DataFrame
    processes: pl.DataFrame
    duration_ns: int  #: From the first event to the last on the node where that took longest.
    labels: dict[str, str]  #: Path of a file without host name -> the node that it stands for (`node_names`).

    def starts(self, column: str) -> dict[str, int]:
        """The start of each node, by its `node` or `machine`; of nodes that share a name, the first one's.

        Files without host name are there by their paths and by the names that results give them.
        """
        nodes = self.nodes.drop_nulls("start_ns").unique(column, keep="first", maintain_order=True)
        starts: dict[str, int] = dict(nodes.select(column, "start_ns").rows())
        return {self.labels.get(name, name): start_ns for name, start_ns in starts.items()} | starts


def node_clocks(run: Run, recorded: Recording | None = None) -> NodeClocks:
    """The clocks of the nodes of a run; `recorded` is the result of `recording`, if available."""
    extents = (recorded or recording(run)).processes.select("start_ns", "end_ns", "rank")
    machine_of_process = machines(run)
    places = machine_of_process.select(pl.col("machine", "node").fill_null(""))
    times = pl.concat([places, extents, machine_of_process.select("is_named")], how="horizontal")
    names = node_names([times.drop_nulls(["start_ns", "end_ns"])])
    nodes = times.group_by("machine", "node", maintain_order=True).agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    node_of_machine = renamed(nodes.select("machine"), names)["machine"]
    start_ns, end_ns = pl.col("start_ns").min().over(node_of_machine), pl.col("end_ns").max().over(node_of_machine)
    nodes = nodes.with_columns(start_ns, end_ns)
    processes = places.join(nodes, on=["machine", "node"], how="left", maintain_order="left")
    longest = nodes.select((pl.col("end_ns") - pl.col("start_ns")).max()).item()
    labels = dict(names.select("machine", "new_node").iter_rows())
    return NodeClocks(nodes, processes, int(longest or 0), labels)
