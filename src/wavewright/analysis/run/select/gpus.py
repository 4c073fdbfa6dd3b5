"""GPUs of a run: their identities, the dispatches and copies of each, and GPUs that several files record.

Each process, and each file of a rank, lists the GPUs that it sees. Two of them are one GPU where their nodes and their
numbers on the node are equal (`GPU_KEY`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import polars as pl

from wavewright.analysis.run.measures.intervals import intervals
from wavewright.analysis.run.select.chosen import without_window
from wavewright.model.answer import once_per_run
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN

#: Columns that identify a GPU: equal in all files that record the same GPU of the same node.
GPU_KEY = ("machine", "gpu_key")

GpuKey: TypeAlias = tuple[str, int | None]  #: The values of `GPU_KEY`.


class _OfGpus(Protocol):
    @property
    def used_gpus(self) -> frozenset[GpuKey]: ...


@dataclass(frozen=True, eq=False, repr=False)
class GpuIndex:
    """The GPUs of a run, numbered by `place`, and the place of each agent."""

    #: `place`, `machine`, `gpu_key`, `node` (name to show), `gpu` (number to show), `target`, `product`.
    table: pl.DataFrame
    numbers: pl.Series  #: The `place` of each agent, by its number; null = no GPU.
    of_process: pl.DataFrame  #: `process` -> the `place` of work whose GPU was not recorded.


@once_per_run
def index_gpus(run: Run) -> GpuIndex:
    """The GPUs that the processes of a run see.

    A node is known by its machine id, else by its host name, else the file stands for it: nothing is then known about
    other files. A GPU of it is known by its number among all agents, else by its number among the GPUs.
    """
    processes = machines(run)
    gpus = run.read("agents", ["agent", "process", "kind", "absolute_index", "type_index", "target", "product"])
    agents = gpus.filter(pl.col("kind") == "GPU").join(processes, on="process", how="left", maintain_order="left")
    named = agents.with_columns(
        pl.col("machine", "node").fill_null(""),
        gpu_key=pl.coalesce("absolute_index", "type_index"),
        gpu=pl.coalesce("type_index", "absolute_index"),
    )
    unknown = processes.select("machine", "node", gpu_key=pl.lit(None, pl.Int64), gpu=pl.lit(None, pl.Int64))
    table = (
        pl.concat([named, unknown], how="diagonal")
        .group_by(GPU_KEY, maintain_order=True)
        .agg(pl.col("node", "gpu", "target", "product").first())
        .with_row_index("place")
    )
    of_agent = named.join(table, on=GPU_KEY, nulls_equal=True, maintain_order="left")
    of_process = processes.join(table.filter(pl.col("gpu_key").is_null()), on="machine", maintain_order="left")
    numbers = gpus.select("agent").join(of_agent, on="agent", how="left", maintain_order="left")["place"]
    return GpuIndex(table, numbers, of_process.select("process", "place"))


@once_per_run
def machines(run: Run) -> pl.DataFrame:
    """`process` with `machine` (identity of its node), `node` (name of it to show), and whether it `is_named`."""
    sources = run.read("sources", ["source", "path"])
    nodes = run.read("nodes", ["node", "machine_id", "hostname"])
    processes = run.read("processes", ["process", "source", "node"]).join(sources, on="source", how="left")
    names = [pl.when(pl.col(name) != "").then(name) for name in ("machine_id", "hostname", "path")]
    return (
        processes.join(nodes, on="node", how="left")
        .sort("process")
        .select(
            "process",
            machine=pl.coalesce(names),
            node=pl.coalesce(names[1:]),
            is_named=pl.coalesce(names[:2]).is_not_null(),
        )
    )


def gpu_work(
    run: Run, gpu_index: GpuIndex, kernel_columns: Sequence[str] = (), copy_columns: Sequence[str] = ()
) -> pl.DataFrame:
    """Dispatches and copies with their `place`, `is_copy`, `process`, `stream`, `start_ns`, `end_ns`, and more columns.

    A copy between two GPUs is the work of both. Work whose GPU is not recorded is that of an unknown GPU of its node.
    """
    common = ["process", "stream", "start_ns", "end_ns"]
    dtypes = RUN["copies"].dtypes | RUN["dispatches"].dtypes | {"is_copy": pl.Boolean(), "place": pl.UInt32()}
    columns = ["place", "is_copy", *common, *dict.fromkeys((*kernel_columns, *copy_columns))]
    empty = pl.DataFrame(schema={name: dtypes[name] for name in columns})
    chunks = [
        _placed(piece, agents, gpu_index).with_columns(is_copy=pl.lit(table == "copies"))
        for table, agents, more_columns in (
            ("dispatches", ["agent"], kernel_columns),
            ("copies", ["dst_agent", "src_agent"], copy_columns),
        )
        for piece in run.chunks(table, [*common, *agents, *more_columns])
    ]
    return pl.concat([empty, *chunks], how="diagonal")


def _placed(piece: pl.DataFrame, agents: Sequence[str], gpu_index: GpuIndex) -> pl.DataFrame:
    """The rows with the `place` of the GPU in the columns `agents`; a row with two GPUs comes once for each."""
    names = [f"place{number}" for number in range(len(agents))]
    is_listed = pl.col(agents) < gpu_index.numbers.len()
    listed = piece.select(pl.when(is_listed).then(pl.col(agents)))  # not agents that a damaged file only refers to
    numbers = [gpu_index.numbers.gather(listed[agent]).alias(name) for agent, name in zip(agents, names, strict=True)]
    piece = piece.drop(agents).with_columns(numbers)
    if piece.select(pl.all_horizontal(pl.col(names).is_null()).any()).item():
        unknown = gpu_index.of_process.rename({"place": "unknown"})
        piece = piece.join(unknown, on="process", how="left", maintain_order="left")
        names.append("unknown")
    first = piece.with_columns(place=pl.coalesce(names).fill_null(0)).drop(names)
    if len(agents) == 1:
        return first
    both = piece.filter((pl.col("place0") != pl.col("place1")).fill_null(value=False))
    return pl.concat([first, both.with_columns(place=pl.col("place1")).drop(names)])


def used_gpu_numbers(run: Run) -> pl.Series:
    """The number among the GPUs of each agent with dispatches or copies, where it is recorded."""
    agents = run.read("agents", ["agent", "kind", "type_index", "absolute_index"])
    used = {
        agent
        for table, columns in (("dispatches", ["agent"]), ("copies", ["src_agent", "dst_agent"]))
        for piece in run.chunks(table, columns)
        for column in columns
        for agent in piece[column].unique()
    }
    gpus = agents.filter(pl.col("kind") == "GPU", pl.col("agent").is_in(list(used)))
    return gpus.select(pl.coalesce("type_index", "absolute_index")).to_series().drop_nulls()


def labelled(run: Run, gpu_index: GpuIndex, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with labels of GPUs, processes and streams in place of their numbers: `place`, `process`, `stream`."""
    labels = {
        "place": gpu_index.table.select("place", *GPU_KEY, "node", "gpu"),
        "process": run.read("processes", ["process", "pid", "rank"]),
        "stream": run.read("streams", ["stream", "stream_id"]),
    }
    for number, table in labels.items():
        if number in rows.columns:
            rows = rows.join(table, on=number, how="left", maintain_order="left").drop(number)
    return rows


def shared_gpus(partials: Iterable[_OfGpus]) -> frozenset[GpuKey]:
    """The GPUs in more than one of the partial results: sums do not show how their work overlaps."""
    seen: set[GpuKey] = set()
    shared: set[GpuKey] = set()
    for partial in partials:
        shared |= seen & partial.used_gpus
        seen |= partial.used_gpus
    return frozenset(shared)


def gpu_key_frame(keys: Iterable[GpuKey]) -> pl.DataFrame:
    """GPUs as a frame with the columns of `GPU_KEY`."""
    return pl.DataFrame(list(keys), schema={"machine": pl.String, "gpu_key": pl.Int64}, orient="row")


def partial_intervals(run: Run, *, shared: frozenset[GpuKey]) -> pl.DataFrame:
    """Busy intervals of the GPUs in `shared` with work of this run, and the pid of the process that started each.

    A time window is left aside: a gap that it cuts starts or ends outside of it, with work that the window leaves out.
    """
    run = without_window(run)
    gpu_index = index_gpus(run)
    chosen = gpu_index.table.join(gpu_key_frame(shared), on=GPU_KEY, how="semi", nulls_equal=True)
    work = gpu_work(run, gpu_index).join(chosen.select("place", *GPU_KEY), on="place")
    pids = run.read("processes", ["process", "pid"])
    return _first_pids(intervals(work.join(pids, on="process", how="left"), GPU_KEY))


def merged_elsewhere(partials: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The results of `partial_intervals` of several runs, merged: busy with work of any of them."""
    return _first_pids(pl.concat(partials))


def _first_pids(work: pl.DataFrame) -> pl.DataFrame:
    """Merged intervals with the `pid` of the work that starts each; the lowest where several start together."""
    ordered = work.select(*GPU_KEY, "start_ns", "end_ns", "pid").sort(*GPU_KEY, "start_ns", "pid")
    reached = pl.col("end_ns").cum_max().shift(1).over(GPU_KEY)
    is_first = (pl.col("start_ns") > reached).fill_null(value=True)
    marked = ordered.with_columns(is_first=is_first, end_ns=pl.col("end_ns").cum_max().over(GPU_KEY))
    is_last = marked["is_first"].shift(-1, fill_value=True)
    starts = marked.filter("is_first").select(*GPU_KEY, "start_ns", "pid")
    return starts.with_columns(marked["end_ns"].filter(is_last)).select(*GPU_KEY, "start_ns", "end_ns", "pid")
