"""Identities of processes and GPUs: values that mean the same in every file, in place of numbers of rows."""

from __future__ import annotations

import polars as pl

from wavewright.model.answer import once_per_run
from wavewright.model.run import Run
from wavewright.readers.run.event_rows import RECORDING_PREFIX

#: Columns that identify processes, also those with equal pids on two nodes or in two files.
PROCESS = ("host", "pid", "rank", "run")
_PART = ": "  #: Between a file and the recording in it, where it holds several.


@once_per_run
def processes_of(document: Run) -> pl.DataFrame:
    """`process` (number in the run) with the columns `PROCESS`, and `path`: the file it was read from.

    `run` is the unique id of the recording, or its path where none is stored.
    """
    hosts = document.read("nodes", ["node", "hostname"])
    paths = document.read("sources", ["source", "path"])
    processes = document.read("processes", ["process", "source", "node", "pid", "rank", "guid"])
    host = pl.col("hostname").fill_null("")
    is_numbered = pl.col("guid").str.starts_with(RECORDING_PREFIX)
    recording = pl.when(is_numbered).then(pl.format(f"{{}}{_PART}{{}}", "path", "guid")).otherwise("guid")
    run = pl.coalesce(recording.replace("", None), "path")
    return (
        processes.join(hosts, on="node", how="left", maintain_order="left")
        .join(paths, on="source", how="left", maintain_order="left")
        .select("process", host.alias("host"), "pid", "rank", run.alias("run"), "path")
    )


def file_of(run: pl.Expr) -> pl.Expr:
    """The `run` of a process, or its file where that holds several recordings."""
    return run.str.replace(rf"{_PART}{RECORDING_PREFIX}\d+$", "")


def gpus_of(run: Run, processes: pl.DataFrame) -> pl.DataFrame:
    """`agent` (number in the run) with `host` and `gpu`: its number among the node's GPUs.

    `processes` is the result of `processes_of`. Where no host name was recorded, the file stands for the node: nothing
    says that two files are of the same one.
    """
    agents = run.read("agents", ["agent", "process", "kind", "type_index", "absolute_index"])
    number = pl.coalesce("type_index", "absolute_index")
    return (
        agents.filter(pl.col("kind") == "GPU")
        .join(processes, on="process", how="left", maintain_order="left")
        .select("agent", host=pl.coalesce(pl.col("host").replace("", None), "path"), gpu=number)
    )
