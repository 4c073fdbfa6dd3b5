"""Nodes, processes, threads, GPUs, queues and streams of an RPD file, each numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.model.losses import Loss
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.event_rows import Lookup, sound_ends

_GRAPH_LAUNCH = "^(hip|cuda)GraphLaunch"


class Entities:
    """The numbered rows of an RPD file, and the links from calls to the GPU work they launched."""

    def __init__(self, database: Database) -> None:
        self.database = database
        has_tags = {"tag", "value"} <= set(database.tables.get("rocpd_metadata", ()))
        pairs = database.query("SELECT tag, value FROM rocpd_metadata") if has_tags else []
        self.metadata: dict[str, str] = {str(tag): str(value) for tag, value in pairs}
        self.pid_stride = self._stride("pid_stride")
        self.gpu_stride = self._stride("gpu_stride")

    def note(self, counts: Counter[tuple[str, str]]) -> None:
        """Add the losses of a pass over a table, (kind of loss, table) -> rows; a repeated pass adds nothing."""
        known_losses = {(loss.kind, loss.detail) for loss in self.database.losses}
        new_counts = {key: count for key, count in counts.items() if count and key not in known_losses}
        self.database.losses.extend(Loss(kind, count, detail) for (kind, detail), count in new_counts.items())

    def _stride(self, tag: str) -> int:
        """Distance between the ids of two nodes; 0 = all is of one node."""
        return integer_of(self.metadata.get(tag)) or 0

    @cached_property
    def strings(self) -> Keyed:
        """id -> `string`."""
        return keyed(self.database, "rocpd_string", "id", {"string": pl.Categorical})

    @cached_property
    def texts(self) -> Keyed:
        """id -> `string` of the arguments of calls; the same strings in files without a table for them."""
        has_table = "rocpd_ustring" in self.database.tables
        return keyed(self.database, "rocpd_ustring", "id", {"string": pl.Categorical}) if has_table else self.strings

    def string_ids(self, pattern: str) -> pl.Series:
        """Ids of the strings that a pattern matches."""
        return self.strings.frame.filter(pl.col("string").cast(pl.String).str.contains(pattern))["id"]

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """The nodes of the run."""
        ids = {*self.processes["node_id"].to_list(), *self.agents["node_id"].to_list()}
        return pl.DataFrame({"node_id": sorted(ids)}, schema={"node_id": pl.Int64}).with_row_index("node")

    @cached_property
    def _threads_of_calls(self) -> tuple[Keyed, pl.DataFrame]:
        """api id -> `thread`; and the pid and tid of each thread, as stored."""
        calls = keyed(self.database, "rocpd_api", "id", {"pid": pl.Int64, "tid": pl.Int64})
        pairs = calls.frame.select("pid", "tid").unique(maintain_order=True).with_row_index("thread")
        rows = calls.frame.join(pairs, on=["pid", "tid"], how="left", maintain_order="left", nulls_equal=True)
        return Keyed(rows.select("id", "thread"), "id"), pairs

    @cached_property
    def threads(self) -> pl.DataFrame:
        """pid and tid as stored, with the number of the thread and of its process."""
        processes = self.processes.select("process", pid="stored")
        return self._threads_of_calls[1].join(processes, on="pid", nulls_equal=True, how="left", maintain_order="left")

    @cached_property
    def processes(self) -> pl.DataFrame:
        """`stored` = the pid as stored, with the number of the node in it."""
        pids = self._threads_of_calls[1]["pid"].unique(maintain_order=True)
        if not pids.len():
            pids = pl.Series("pid", [None], dtype=pl.Int64)
        stride = self.pid_stride
        node = pids // stride if stride else pids * 0
        columns = {"stored": pids, "pid": pids % stride if stride else pids, "node_id": node.fill_null(0)}
        return pl.DataFrame(columns).with_row_index("process")

    @cached_property
    def _links(self) -> Keyed:
        """op id -> the call that launched it; the first one, where there are several."""
        return keyed(self.database, "rocpd_api_ops", "op_id", {"api_id": pl.Int64})

    def launch_of(self, ops: pl.Series) -> pl.Series:
        """Id of the call that launched each op."""
        return self._links.take("api_id", ops)

    def thread_of(self, calls: pl.Series) -> pl.Series:
        """Number of the thread that made each call."""
        return self._threads_of_calls[0].take("thread", calls)

    def process_of(self, threads: pl.Series) -> pl.Series:
        """Number of the process of each thread."""
        return self.threads["process"].gather(threads)

    def process_of_work(self, threads: pl.Series, gpu_ids: pl.Series) -> pl.Series:
        """The process of the thread that launched each op; where no launch is recorded, the first that used its GPU."""
        launcher = self.process_of(threads)
        if not launcher.null_count():
            return launcher
        first = Keyed(self.gpus, "gpuId").take("process", gpu_ids)
        return pl.select(pl.coalesce(launcher, first)).to_series()

    @cached_property
    def _used(self) -> pl.DataFrame:
        """Every (gpuId, queueId, process) with work; no process where no launch is recorded."""
        key = ["gpuId", "queueId", "process"]
        parts = []
        columns = {"id": pl.Int64, "gpuId": pl.Int64, "queueId": pl.Int64}
        several = self.processes.height > 1
        for piece in self.database.chunks("rocpd_op", columns):
            process = pl.zeros(piece.height, pl.UInt32, eager=True)
            if several:
                process = self.process_of(self.thread_of(self.launch_of(piece["id"])))
            parts.append(piece.with_columns(process.alias("process")).select(key).unique())
        empty = pl.DataFrame(schema={"gpuId": pl.Int64, "queueId": pl.Int64, "process": pl.UInt32})
        return pl.concat([empty, *parts]).unique().drop_nulls("gpuId").sort(key)

    @cached_property
    def gpus(self) -> pl.DataFrame:
        """GPUs with work or measurements, by the ids that the file has, and the first process that used each."""
        users = self._used.group_by("gpuId").agg(pl.col("process").min())
        monitors = self.database.frame("rocpd_monitor", {"deviceId": pl.Int64, "deviceType": pl.String})
        ids = monitors.filter(pl.col("deviceType").str.to_lowercase() == "gpu")["deviceId"].unique().drop_nulls()
        gpus = pl.concat([users, pl.DataFrame({"gpuId": ids, "process": None}, schema=users.schema)])
        node = pl.col("gpuId") // self.gpu_stride if self.gpu_stride else pl.lit(0, pl.Int64)
        rows = gpus.group_by("gpuId").agg(pl.col("process").min()).sort("gpuId").with_columns(node_id=node)
        first = self.processes.group_by("node_id").agg(pl.col("process").min().alias("first"))
        table = rows.join(first, on="node_id", how="left", maintain_order="left")
        return table.select("gpuId", "node_id", pl.coalesce("process", "first", pl.lit(0, pl.UInt32)).alias("process"))

    @cached_property
    def agents(self) -> pl.DataFrame:
        """gpuId as stored, with the number of the agent and of its process: a GPU of each process that used it."""
        pairs = pl.concat([self._used.select("gpuId", "process").drop_nulls(), self.gpus.select("gpuId", "process")])
        nodes = self.gpus.select("gpuId", "node_id")
        return pairs.unique().sort("gpuId", "process").join(nodes, on="gpuId").with_row_index("agent")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """gpuId and queueId as stored, with the number of the queue and of its process."""
        first = self.gpus.select("gpuId", pl.col("process").alias("first"))
        queues = self._used.join(first, on="gpuId", how="left")
        queues = queues.select("gpuId", "queueId", pl.coalesce("process", "first").alias("process"))
        return queues.unique().sort("gpuId", "queueId", "process").with_row_index("queue")

    @cached_property
    def stream_texts(self) -> Keyed:
        """api id -> `stream`, the stored name of the stream of a launch or copy."""
        columns: dict[str, type[pl.DataType]] = {"api_ptr_id": pl.Int64, "stream": pl.Categorical}
        parts = [self.database.frame(table, columns) for table in ("rocpd_kernelapi", "rocpd_copyapi")]
        graphs = self.graph_launches.frame
        return Keyed(pl.concat([*parts, graphs.select("api_ptr_id", "stream")]), "api_ptr_id")

    @cached_property
    def graph_launches(self) -> Keyed:
        """api id -> `stream` and `graph_exec` of launches of graphs, from their arguments."""
        function_ids = self.string_ids(_GRAPH_LAUNCH)
        columns = {"id": pl.Int64, "apiName_id": pl.Int64, "args_id": pl.Int64}
        is_launch = pl.col("apiName_id").is_in(function_ids.implode())
        pieces = self.database.chunks("rocpd_api", columns) if function_ids.len() else ()
        calls = [piece.filter(is_launch) for piece in pieces]
        graph_calls = pl.concat([pl.DataFrame(schema=columns), *calls])
        text = self.texts.take("string", graph_calls["args_id"]).cast(pl.String)
        stream, graph = (pl.col("text").str.extract(rf"\b{name} *= *(\w+)") for name in ("stream", "graphExec"))
        launches = pl.DataFrame({"api_ptr_id": graph_calls["id"], "text": text})
        columns_of_launch = {"stream": stream.cast(pl.Categorical), "graph_exec": hexadecimal(graph)}
        return Keyed(launches.select("api_ptr_id", **columns_of_launch), "api_ptr_id")

    @cached_property
    def streams(self) -> pl.DataFrame:
        """Every stream of every process: its number and its stored name."""
        launches = self.stream_texts.frame
        process = self.process_of(self.thread_of(launches["api_ptr_id"]))
        pairs = pl.DataFrame({"process": process, "text": launches["stream"]}).drop_nulls().unique()
        pairs = pairs.with_columns(hexadecimal(pl.col("text").cast(pl.String)).alias("stream_id"))
        return pairs.sort("process", "stream_id", pl.col("text").cast(pl.String)).with_row_index("stream")


def with_sound_ends(piece: pl.DataFrame, table: str) -> tuple[pl.DataFrame, Counter[tuple[str, str]]]:
    """Rows whose ends (`start`, `end`) any sum can take, and how many had others: (kind of loss, table) -> rows."""
    ends, counts = sound_ends(piece["start"], piece["end"])
    return piece.with_columns(ends.alias("end")), Counter({(kind, table): count for kind, count in counts.items()})


def hexadecimal(text: pl.Expr) -> pl.Expr:
    """Numbers from strings such as 0x7f40; null from others."""
    return text.str.strip_prefix("0x").str.to_integer(base=16, strict=False)


class Keyed:
    """A table by its id."""

    def __init__(self, frame: pl.DataFrame, key: str) -> None:
        self.frame = frame.drop_nulls(key)
        self.keys = self.frame[key]
        self._lookup = Lookup.of(self.keys)

    def rows(self, ids: pl.Series) -> pl.Series:
        """The row of every id; null where there is none."""
        return self._lookup.rows(ids)

    def take(self, column: str, keys: pl.Series) -> pl.Series:
        """A column's value for every id; null where there is none."""
        return self.frame[column].gather(self.rows(keys))


def keyed(database: Database, table: str, key: str, columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> Keyed:
    """Columns of a stored table, by its id."""
    return Keyed(database.frame(table, {key: pl.Int64, **columns}), key)
