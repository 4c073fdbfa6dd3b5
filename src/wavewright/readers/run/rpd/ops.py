"""GPU work of an RPD file: its ops, as dispatches and copies.

An op whose type says copy (CopyHostToDevice, Memcpy, ...) is a copy; every other op is a dispatch: KernelExecution,
Task (a kernel of a graph), FillBuffer and Memset (which the runtime does with a kernel of its own), barriers. An op
without a description is named after its type, as in RPD's own view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import polars as pl

from wavewright.model.run_tables import RUN
from wavewright.readers.run.rpd.entities import Entities, Keyed, hexadecimal, keyed, with_sound_ends

_COPY_TYPE = "(?i)^copy|memcpy|memory_copy"
_LANES_LAUNCH = "^hip(Ext|Hcc)ModuleLaunchKernel$"  #: Calls whose grid is in lanes; all others give it in workgroups.
#: Columns of dispatches -> those of `rocpd_kernelapi`.
_LAUNCH = {f"{size}_{axis}": f"{size}{axis.upper()}" for size in ("workgroup", "grid") for axis in "xyz"}
_LAUNCH |= {"lds_bytes": "groupSegmentSize", "scratch_bytes": "privateSegmentSize"}
_REGISTERS = {"sgpr_count": "sgpr", "vgpr_count": "vgpr"}
_OP = ("id", "opType_id", "description_id", "gpuId", "queueId")
_FROM_HOST, _TO_HOST = "(?i)HostTo|HOST_TO", "(?i)ToHost|TO_HOST"  #: In the type of a copy.
_NAMES_DIRECTION = "(?i)to"  #: A type without it (Memcpy) leaves the direction to the `kind` of the call.
_H2D, _D2H = 1, 2  #: `kind` of calls, as in HIP's hipMemcpyKind.
_OP_COLUMNS = {"start_ns": "start", "end_ns": "end", "dispatch_id": "id"}  #: Columns of a run -> of `rocpd_op`.
#: Columns of a run that are attributes of `_Piece`.
_ATTRIBUTES = ("name", "process", "thread", "agent", "queue", "stream", "correlation", "event", "graph_exec")


class Ops:
    """Chunks of `dispatches` and `copies`."""

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self._database = entities.database

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The ops that belong to a table, with these columns."""
        times = ("start", "end") if {"start_ns", "end_ns"} & set(columns) else ()
        more_columns = ("sequenceId", "completionSignal") if "properties" in columns else ()
        types = dict.fromkeys((*_OP, *times), pl.Int64) | dict.fromkeys(more_columns, pl.String)
        copies = self.entities.string_ids(_COPY_TYPE)
        wrong: Counter[tuple[str, str]] = Counter()
        for piece in self._database.chunks("rocpd_op", types):
            is_copy = pl.col("opType_id").is_in(copies.implode()).fill_null(value=False)
            ops = piece.filter(is_copy if table == "copies" else ~is_copy)
            if times:
                ops, unsound = with_sound_ends(ops, f"{table} of rocpd_op")
                wrong += unsound
            if ops.height:
                frame = _Piece(self, ops).frame(table, columns)
                if "name" in columns:
                    wrong["dangling_rows", "names of rocpd_op"] += frame["name"].null_count()
                yield frame
        self.entities.note(wrong)

    @cached_property
    def empty_strings(self) -> pl.Series:
        """Ids of the empty string."""
        return self.entities.string_ids("^$")

    @cached_property
    def event_offset(self) -> int:
        """The offset from the id of an op to its event: the highest id of a call, so that events differ from calls."""
        if "id" not in self._database.tables.get("rocpd_api", ()):
            return 0
        return int(self._database.query("SELECT max(id) FROM rocpd_api")[0][0] or 0)

    @cached_property
    def launches(self) -> Keyed:
        """api id -> the launch in `rocpd_kernelapi`, grids in lanes."""
        types: dict[str, type[pl.DataType]] = dict.fromkeys(_LAUNCH.values(), pl.Int64)
        types["codeObject_id"] = pl.String  # an empty text where there is none
        launches = keyed(self._database, "rocpd_kernelapi", "api_ptr_id", types)
        calls = keyed(self._database, "rocpd_api", "id", {"apiName_id": pl.Int64})
        in_lanes = calls.take("apiName_id", launches.keys).is_in(self.entities.string_ids(_LANES_LAUNCH).implode())
        factors = (pl.when(in_lanes.fill_null(value=False)).then(1).otherwise(f"workgroup{axis}") for axis in "XYZ")
        lanes = [pl.col(f"grid{axis}") * factor for axis, factor in zip("XYZ", factors, strict=True)]
        code_object = pl.col("codeObject_id").str.to_integer(strict=False)
        return Keyed(launches.frame.with_columns(*lanes, code_object), "api_ptr_id")

    @cached_property
    def code_objects(self) -> Keyed:
        """Id -> registers."""
        return keyed(self._database, "rocpd_kernelcodeobject", "id", {"vgpr": pl.Int64, "sgpr": pl.Int64})

    @cached_property
    def copy_calls(self) -> Keyed:
        """api id -> the copy in `rocpd_copyapi`."""
        numbers = ("size", "kind", "dstDevice", "srcDevice", "sync", "pinned")
        columns = dict.fromkeys(numbers, pl.Int64) | dict.fromkeys(("dst", "src", "width", "height"), pl.String)
        return keyed(self._database, "rocpd_copyapi", "api_ptr_id", columns)


class _Piece:
    """One chunk of ops; everything is looked up at most once."""

    def __init__(self, ops: Ops, piece: pl.DataFrame) -> None:
        self._ops, self._entities, self._piece = ops, ops.entities, piece

    def frame(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """These columns of `dispatches` or `copies`."""
        dtypes = RUN[table].dtypes
        selected = []
        for name in columns:
            series = self._column(name, is_copy=table == "copies")
            if series is None:
                series = pl.Series(name, [None], dtype=dtypes[name]).new_from_index(0, self._piece.height)
            selected.append(series.cast(dtypes[name]).alias(name))
        return pl.DataFrame(selected)

    def _column(self, name: str, *, is_copy: bool) -> pl.Series | None:
        """A column of a run; None = RPD has nothing for it."""
        if name in _OP_COLUMNS:
            return self._piece[_OP_COLUMNS[name]]
        if name in _ATTRIBUTES:
            column: pl.Series = getattr(self, name)
            return column
        if name == "properties":
            return self._properties(is_copy=is_copy)
        return self._of_copy(name) if is_copy else self._of_launch(name)

    @cached_property
    def type_name(self) -> pl.Series:
        """The type of the op, as stored."""
        return self._entities.strings.take("string", self._piece["opType_id"])

    @cached_property
    def name(self) -> pl.Series:
        """The description; the type where there is none."""
        nameless = pl.col("description_id").is_in(self._ops.empty_strings.implode()).fill_null(value=True)
        ids = self._piece.select(pl.when(nameless).then("opType_id").otherwise("description_id")).to_series()
        return self._entities.strings.take("string", ids)

    @cached_property
    def correlation(self) -> pl.Series:
        """The call that launched the op."""
        return self._entities.launch_of(self._piece["id"])

    @cached_property
    def event(self) -> pl.Series:
        """A number that no call has."""
        return self._piece["id"] + self._ops.event_offset

    @cached_property
    def thread(self) -> pl.Series:
        """The thread that launched the op."""
        return self._entities.thread_of(self.correlation)

    @cached_property
    def process(self) -> pl.Series:
        """The process that launched the op; else the first one that used its GPU."""
        if self._entities.processes.height == 1:
            return pl.zeros(self._piece.height, pl.UInt32, eager=True)
        return self._entities.process_of_work(self.thread, self._piece["gpuId"])

    @cached_property
    def agent(self) -> pl.Series:
        """The GPU of its process."""
        if self._entities.processes.height == 1:
            return Keyed(self._entities.agents, "gpuId").take("agent", self._piece["gpuId"])
        return self._number_in(self._entities.agents, ["gpuId"], "agent")

    @cached_property
    def queue(self) -> pl.Series:
        """The queue of that GPU."""
        return self._number_in(self._entities.queues, ["gpuId", "queueId"], "queue")

    def _number_in(self, table: pl.DataFrame, columns: list[str], number: str) -> pl.Series:
        """The row of a table with the values of these columns, and the process, of each op."""
        keys = self._piece.select(columns).with_columns(self.process.alias("process"))
        numbers = table.select(*keys.columns, number)
        return keys.join(numbers, on=keys.columns, how="left", maintain_order="left", nulls_equal=True)[number]

    @cached_property
    def stream(self) -> pl.Series:
        """The stream of the launch."""
        texts = self._entities.stream_texts.take("stream", self.correlation)
        rows = pl.DataFrame({"process": self.process, "text": texts})
        streams = self._entities.streams.select("process", "text", "stream")
        return rows.join(streams, on=["process", "text"], how="left", maintain_order="left")["stream"]

    @cached_property
    def graph_exec(self) -> pl.Series:
        """The graph that a launch of graphs started."""
        return self._entities.graph_launches.take("graph_exec", self.correlation)

    def _of_launch(self, name: str) -> pl.Series | None:
        if name in _LAUNCH:
            return self._ops.launches.take(_LAUNCH[name], self.correlation)
        if name in _REGISTERS:
            code = self._ops.launches.take("codeObject_id", self.correlation)
            return self._ops.code_objects.take(_REGISTERS[name], code)
        return None

    def _of_copy(self, name: str) -> pl.Series | None:
        calls = self._ops.copy_calls
        if name == "size_bytes":
            return calls.take("size", self.correlation)
        if name in ("src_address", "dst_address"):
            text = calls.take(name[:3], self.correlation)
            return pl.DataFrame({"text": text}).select(hexadecimal(pl.col("text"))).to_series()
        if name in ("src_agent", "dst_agent"):
            # The op names one GPU; the other side is the host, unless the copy stays on the device.
            host, kind = (_FROM_HOST, _H2D) if name == "src_agent" else (_TO_HOST, _D2H)
            op_type, call_kind = self.type_name.cast(pl.String), calls.take("kind", self.correlation)
            by_call = call_kind.eq_missing(kind) & ~op_type.str.contains(_NAMES_DIRECTION)
            is_host = op_type.str.contains(host) | by_call
            return pl.select(pl.when(~is_host).then(self.agent)).to_series()
        return None

    def _properties(self, *, is_copy: bool) -> pl.Series:
        """Type and sequence of the op, and the other values of a copy, as JSON."""
        properties = {"opType": self.type_name.cast(pl.String)}
        properties |= {name: self._piece[name] for name in ("sequenceId", "completionSignal")}
        if is_copy:
            others = ("kind", "width", "height", "dstDevice", "srcDevice", "sync", "pinned")
            properties |= {name: self._ops.copy_calls.take(name, self.correlation) for name in others}
        return pl.DataFrame(properties).select(pl.struct(pl.all()).struct.json_encode()).to_series()
