"""One process of a run as calls, GPU work and links of an RPD file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from wavewright.export.run.event_ids import EventIds
from wavewright.export.run.rpd.sql_schema import GPU_STRIDE, PID_STRIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wavewright.export.run.rpd.file import RpdFile
    from wavewright.model.run import Run

_MARKER = "UserMarker"
_LANES_LAUNCH = "^hip(Ext|Hcc)ModuleLaunchKernel$"  #: Calls whose grid is in lanes; all others give it in workgroups.
_KINDS = {"HOST_?TO_?DEVICE": 1, "DEVICE_?TO_?HOST": 2, "DEVICE_?TO_?DEVICE": 3}
_ANY_KIND = 4
_WORDS = {1: "CopyHostToDevice", 2: "CopyDeviceToHost", 3: "CopyDeviceToDevice", 4: "Copy"}


class ProcessWriter:
    """Writes the events of one process; `pieces` returns its rows of a table, `nodes` the numbers of nodes in the file.
    Events of work are its ids and `above`.

    Ids of calls and of work are unique in a file, so those of process n begin at n times 2^32, as in RPD's own files.
    """

    def __init__(
        self,
        run: Run,
        number: int,
        file: RpdFile,
        pieces: Callable[[str], Iterator[pl.DataFrame]],
        *,
        nodes: Sequence[int],
        first_id: int,
        above: int,
    ) -> None:
        self._run, self._file, self._pieces, self._first = run, file, pieces, first_id
        self._nodes, self._above = nodes, above
        row = run.table("processes").row(number, named=True)
        self._node = nodes[row["node"]] if row["node"] is not None else 0
        self._pid = (row["pid"] or 0) % PID_STRIDE + self._node * PID_STRIDE
        self.counts: Counter[str] = Counter()

    def write(self) -> None:
        """Write calls, then work, then their links and arguments."""
        self._calls = EventIds({name: self._events(name) for name in ("regions", "samples")})
        work = {name: self._events(name) for name in ("dispatches", "copies")}
        self._ops = EventIds({name: series - self._above for name, series in work.items()})
        links = [self._write_calls(table) for table in ("regions", "samples")]
        self._links = pl.concat(links).unique("correlation", keep="first", maintain_order=True)
        self._write_kernels()
        self._write_copies()
        self._write_belongings()
        self._write_arguments()

    def _events(self, table: str) -> pl.Series:
        return pl.concat([pl.Series([], dtype=pl.Int64), *(piece["event"] for piece in self._pieces(table))])

    def _write_calls(self, table: str) -> pl.DataFrame:
        """Write calls; which call has which correlation."""
        threads = self._run.table("threads")["tid"]
        links = [pl.DataFrame(schema={"correlation": pl.Int64, "api": pl.Int64, "in_lanes": pl.Boolean})]
        for piece in self._pieces(table):
            begin, end = ("time_ns", "time_ns") if table == "samples" else ("start_ns", "end_ns")
            texts = piece.select(
                pl.col(name).cast(pl.String) for name in ("domain", "category", "name", "function", "properties")
            )
            is_marker = (pl.col("domain") == "MARKER").fill_null(value=False)
            function = pl.coalesce("function", "name")
            call_texts = texts.select(
                pl.when(is_marker).then(pl.lit(_MARKER)).otherwise(function).alias("function"),
                pl.when(is_marker)
                .then("name")
                .otherwise(pl.col("properties").str.json_path_match("$.args"))
                .alias("args"),
            )
            ids = self._calls.of(table, piece["event"]) + self._first
            tids = threads.gather(piece["thread"]).fill_null(self._pid) % PID_STRIDE + self._node * PID_STRIDE
            frame = pl.DataFrame({"id": ids, "tid": tids, "start": piece[begin], "end": piece[end]}).with_columns(
                pl.lit(self._pid).alias("pid"),
                pl.col("start").fill_null(0),
                pl.coalesce("end", "start", pl.lit(0)).alias("end"),
                self._file.text_ids(call_texts["function"]).alias("apiName_id"),
                self._file.text_ids(texts["category"]).alias("category_id"),
                self._file.text_ids(texts["domain"]).alias("domain_id"),
                self._file.text_ids(call_texts["args"], "rocpd_ustring").alias("args_id"),
            )
            self._file.insert("rocpd_api", frame)
            self.counts[table] += piece.height
            in_lanes = call_texts["function"].str.contains(_LANES_LAUNCH).fill_null(value=False)
            link = pl.DataFrame({"correlation": piece["correlation"], "api": ids, "in_lanes": in_lanes})
            links.append(link.filter(texts["domain"].ne_missing(pl.lit("MARKER"))).drop_nulls("correlation"))
        return pl.concat(links)

    def _write_ops(self, table: str, piece: pl.DataFrame, op_types: pl.Series, agents: pl.Series) -> pl.DataFrame:
        """Write GPU work and its links; returns the chunk with op, launching call and name of the stream."""
        ids = self._ops.of(table, piece["event"] - self._above) + self._first
        queues = self._run.table("queues")["queue_id"].gather(piece["queue"])
        described = piece["name"].cast(pl.String)
        frame = pl.DataFrame(
            {
                "id": ids,
                "gpuId": self._gpu_ids(agents),
                "queueId": queues.fill_null(0),
                "sequenceId": _property(piece, "sequenceId"),
                "start": piece["start_ns"].fill_null(0),
                "end": pl.select(pl.coalesce(piece["end_ns"], piece["start_ns"], pl.lit(0))).to_series(),
                "description_id": self._file.text_ids(described.set(described.eq_missing(op_types), "")),
                "opType_id": self._file.text_ids(op_types),
            }
        )
        self._file.insert("rocpd_op", frame)
        self.counts[table] += piece.height
        ops = piece.with_columns(ids.alias("op"), self._stream_texts(piece["stream"])).join(
            self._links, on="correlation", how="left", maintain_order="left"
        )
        linked = ops.drop_nulls("api").select(api_id="api", op_id="op")
        self._file.insert("rocpd_api_ops", linked)
        return ops

    def _write_kernels(self) -> None:
        for piece in self._pieces("dispatches"):
            stored = piece["properties"].str.json_path_match("$.opType")
            ops = self._write_ops("dispatches", piece, stored.fill_null("KernelExecution"), piece["agent"])
            axes = [
                pl.when("in_lanes").then(f"grid_{a}").otherwise(_workgroups(a)).fill_null(0).alias(f"grid{a.upper()}")
                for a in "xyz"
            ]
            # A call that launched several kernels, such as the launch of a graph, has no grid of each.
            single = ops.filter(pl.col("api").is_not_null() & pl.col("api").is_unique()).drop_nulls("workgroup_x")
            launches = single.select(
                pl.col("api").alias("api_ptr_id"),
                pl.col("stream_text").alias("stream"),
                *axes,
                *(pl.col(f"workgroup_{a}").fill_null(0).alias(f"workgroup{a.upper()}") for a in "xyz"),
                pl.col("lds_bytes").fill_null(0).alias("groupSegmentSize"),
                pl.col("scratch_bytes").fill_null(0).alias("privateSegmentSize"),
            )
            names = self._file.text_ids(single["name"]).alias("kernelName_id")
            self._file.insert("rocpd_kernelapi", launches.with_columns(names), or_ignore=True)

    def _write_copies(self) -> None:
        kinds = self._run.table("agents")["kind"]
        for piece in self._pieces("copies"):
            kind = _copy_kind(piece)
            is_gpu = kinds.gather(piece["dst_agent"]).eq_missing(pl.lit("GPU"))
            agents = pl.select(pl.when(is_gpu).then(piece["dst_agent"]).otherwise(piece["src_agent"])).to_series()
            stored = piece["properties"].str.json_path_match("$.opType")
            types = pl.select(pl.coalesce(stored, kind.replace_strict(_WORDS))).to_series()
            ops = self._write_ops("copies", piece.with_columns(kind.alias("kind")), types, agents)
            single = ops.filter(pl.col("api").is_not_null() & pl.col("api").is_unique()).drop_nulls("size_bytes")
            devices = [
                _property(single, f"{end}Device", self._gpu_ids(single[f"{end}_agent"]) % GPU_STRIDE)
                for end in ("dst", "src")
            ]
            calls = single.select(
                pl.col("api").alias("api_ptr_id"),
                pl.col("stream_text").alias("stream"),
                pl.col("size_bytes").alias("size"),
                *(_property(single, name).alias(name) for name in ("width", "height")),
                "kind",
                *(_hexadecimal(f"{end}_address").alias(end) for end in ("dst", "src")),
                *devices,
                *(_property(single, name).alias(name) for name in ("sync", "pinned")),
            )
            self._file.insert("rocpd_copyapi", calls, or_ignore=True)

    def _write_belongings(self) -> None:
        """Monitors, counters of dispatches, call stacks."""
        for piece in self._pieces("monitors"):
            values = pl.col("value").cast(pl.String).str.strip_suffix(".0").fill_null("")
            frame = piece.select(
                pl.lit("gpu").alias("deviceType"),
                self._gpu_ids(piece["agent"]).alias("deviceId"),
                pl.col("name").cast(pl.String).fill_null("").alias("monitorType"),
                pl.col("start_ns").fill_null(0).alias("start"),
                pl.coalesce("end_ns", "start_ns", pl.lit(0)).alias("end"),
                values.alias("value"),
            )
            self._file.insert("rocpd_monitor", frame)
            self.counts["monitors"] += piece.height
        names = self._run.table("counter_info")["name"]
        for piece in self._pieces("counters"):
            of_dispatch = piece.filter(pl.col("event").is_not_null() & pl.col("time_ns").is_null())
            ops = self._ops.referred("counters", of_dispatch["event"] - self._above) + self._first
            texts = self._file.text_ids(names.gather(of_dispatch["counter"]))
            frame = pl.DataFrame({"value": of_dispatch["value"], "op_id": ops, "name_id": texts})
            self._file.insert("rocpd_counter", frame)
            self.counts["counters"] += frame.height
        for piece in self._pieces("frames"):
            calls = self._calls.referred("frames", piece["event"]) + self._first
            texts = self._file.text_ids(piece["name"])
            frame = pl.DataFrame({"api_ptr_id": calls, "depth": piece["depth"].fill_null(0), "name_id": texts})
            self._file.insert("rocpd_stackframe", frame.drop_nulls("api_ptr_id"))
            self.counts["frames"] += piece.height

    def _write_arguments(self) -> None:
        """`name=value | name=value` for the calls that do not have the text of their arguments yet."""
        empty = self._file.text_ids(pl.Series([""]), "rocpd_ustring")[0]
        waiting = None
        for piece in self._pieces("arguments"):
            ready = piece if waiting is None else pl.concat([waiting, piece])
            last = ready["event"][-1]  # its other arguments may be in the next piece
            waiting = ready.filter(pl.col("event").eq_missing(last))
            self._write_texts(ready.filter(pl.col("event").ne_missing(last)), empty)
        if waiting is not None:
            self._write_texts(waiting, empty)

    def _write_texts(self, arguments: pl.DataFrame, empty: int) -> None:
        pair = pl.concat_str(
            pl.when(pl.col("name").cast(pl.String) != "").then(
                pl.concat_str(pl.col("name").cast(pl.String), pl.lit("="))
            ),
            pl.col("value"),
            ignore_nulls=True,
        )
        texts = arguments.group_by("event", maintain_order=True).agg(
            pair.sort_by("position").str.join(" | ").alias("text")
        )
        calls = self._calls.referred("arguments", texts["event"]) + self._first
        rows = pl.DataFrame({"text": self._file.text_ids(texts["text"], "rocpd_ustring"), "call": calls})
        self._file.connection.executemany(
            f"UPDATE rocpd_api SET args_id = ? WHERE id = ? AND args_id = {int(empty)}",  # noqa: S608 - a number
            rows.drop_nulls().iter_rows(),
        )
        self.counts["arguments"] += arguments.height

    def _gpu_ids(self, agents: pl.Series) -> pl.Series:
        """The number that a GPU has in the file: of its node, and among its GPUs."""
        all_agents = self._run.table("agents")
        numbers = pl.Series(self._nodes, dtype=pl.Int64)
        nodes = numbers.gather(self._run.table("processes")["node"].gather(all_agents["process"]))
        number = pl.coalesce("type_index", "absolute_index", "agent_id").fill_null(0)
        ids = all_agents.select(number % GPU_STRIDE + nodes.fill_null(0) * GPU_STRIDE).to_series()
        return ids.gather(agents).fill_null(self._node * GPU_STRIDE)

    def _stream_texts(self, streams: pl.Series) -> pl.Series:
        texts = [
            name if (name or "").startswith("0x") else f"0x{stream or 0:x}"
            for name, stream in self._run.table("streams").select("name", "stream_id").iter_rows()
        ]
        return pl.Series("stream_text", texts, dtype=pl.String).gather(streams).fill_null("0x0")


def _property(piece: pl.DataFrame, name: str, default: pl.Series | int = 0) -> pl.Series:
    """A number that only RPD files have."""
    stored = piece["properties"].str.json_path_match(f"$.{name}").cast(pl.Int64, strict=False)
    return pl.select(pl.coalesce(stored, default).alias(name)).to_series()


def _copy_kind(piece: pl.DataFrame) -> pl.Series:
    stored = piece["properties"].str.json_path_match("$.kind").cast(pl.Int64, strict=False)
    guess = pl.lit(_ANY_KIND)
    for pattern, number in _KINDS.items():
        guess = pl.when(pl.col("name").cast(pl.String).str.contains(f"(?i){pattern}")).then(number).otherwise(guess)
    guessed = piece.select(guess.cast(pl.Int64).alias("kind"))["kind"]
    return pl.select(pl.coalesce(stored, guessed).alias("kind")).to_series()


def _workgroups(axis: str) -> pl.Expr:
    """Workgroups of a grid that is given in lanes, the last one perhaps not full."""
    lanes, size = pl.col(f"grid_{axis}"), pl.col(f"workgroup_{axis}")
    return pl.when(size > 0).then((lanes + size - 1) // size).otherwise(lanes)


def _hexadecimal(column: str) -> pl.Expr:
    digits = pl.col(column).map_elements(lambda address: f"{address:#x}", return_dtype=pl.String)
    return digits.fill_null("")
