"""A run as `*_results.json` of rocprofv3: one process after the other, with its records by kind."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import IO, Any

import polars as pl

from wavewright.base.shown import json_bytes
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.csv import AGENT_FACTS
from wavewright.export.run.labels import category_of
from wavewright.model.run import Run

_LEFT_OUT = ("arguments", "monitors", "frames", "counters")  #: Tables that are not written.
_AGENT_TYPES = {"CPU": 1, "GPU": 2, "NIC": 3}
_APIS = ("hip", "hsa", "marker", "rccl", "rocdecode", "rocjpeg", "ompt")
#: Key of a node -> column of the table of nodes.
_NODE = {"id": "node_id", "hash": "hash", "machine_id": "machine_id", "hostname": "hostname", "system_name": "system",
         "release": "release", "version": "version", "hardware_name": "hardware", "domain_name": "domain"}  # fmt: skip
#: Column of events, a row number -> column of the recorded id in that table (whose name is the plural).
_IDS = {"thread": "tid", "queue": "queue_id", "stream": "stream_id", "agent": "agent_id"}
_PIECE_ROWS = 1 << 16


def write_rocprofv3_json(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write the JSON file of rocprofv3: `{"rocprofiler-sdk-tool": [process, ...]}`.

    Names and nesting are those of rocprofiler-sdk 1.0. Calls of domains that rocprofv3 does not have are `marker_api`.
    Counters are not written: `-f csv` and `-f rocpd` have them.
    """
    target = Path(out)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        counts: dict[str, int] = {}
        stream.write(b'{"rocprofiler-sdk-tool": [')
        for number, process in enumerate(run.read("processes").iter_rows(named=True)):
            stream.write(b"," if number else b"")
            _write_process(run, process, stream, counts)
        stream.write(b"]}\n")
    return Written(target, counts, left_out(run, _LEFT_OUT))


def _write_process(run: Run, process: dict[str, Any], stream: IO[bytes], counts: dict[str, int]) -> None:
    """Write the object of one process: facts and strings, then its records list by list."""
    of_process = pl.col("process") == process["process"]
    agents = run.read("agents").filter(of_process)
    dispatches, kernels = _with_kernels(_rows(run, "dispatches", of_process), run.read("symbols"))
    is_scratch = pl.col("level").cast(pl.String).eq_missing("SCRATCH")
    allocations = _rows(run, "allocations", of_process)
    calls, marker_texts = _calls(_rows(run, "regions", of_process), _rows(run, "samples", of_process))
    records = {
        "kernel_dispatch": dispatches,
        "memory_copy": _rows(run, "copies", of_process),
        "memory_allocation": allocations.filter(~is_scratch),
        "scratch_memory": allocations.filter(is_scratch),
    } | {f"{name}_api": calls.filter(list=name) for name in _APIS}
    records = {name: _named(name, frame) for name, frame in records.items()}
    kinds = [frame.select("kind", "operation").unique() for frame in records.values()]
    groups = pl.concat(kinds).unique().sort(pl.all()).group_by("kind", maintain_order=True).agg("operation")
    facts = {
        "metadata": _metadata(run, process),
        "agents": [_agent(agent) for agent in agents.iter_rows(named=True)],
        "counters": [],
        "strings": {
            "buffer_records": [{"kind": kind, "operations": names} for kind, names in groups.iter_rows()],
            "marker_api": marker_texts,
            "correlation_id": {"external": []},
        },
        "code_objects": [],
        "kernel_symbols": kernels,
        "callback_records": {},
    }
    stream.write(json_bytes(facts)[:-1] + b',"buffer_records":{')
    numbers = groups.with_row_index("kind_number").explode("operation", empty_as_null=False)
    numbers = numbers.with_columns(operation_number=pl.int_range(pl.len()).over("kind"))
    for number, (name, frame) in enumerate(records.items()):
        stream.write(f'{"," if number else ""}"{name}":['.encode())
        rows = frame.join(numbers, on=["kind", "operation"], how="left", maintain_order="left", nulls_equal=True)
        for start in range(0, rows.height, _PIECE_ROWS):
            objects = rows[start : start + _PIECE_ROWS].select(_record(name).struct.json_encode()).to_series()
            stream.write((b"," if start else b"") + ",".join(objects).encode())
        stream.write(b"]")
        counts[name] = counts.get(name, 0) + rows.height
    stream.write(b"}}")


def _rows(run: Run, table: str, of_process: pl.Expr) -> pl.DataFrame:
    """Events of a process, with the recorded ids of their thread, queue, stream and agents as `*_value`."""
    frame = run.read(table).filter(of_process)
    ids = {name: run.read(f"{name}s", [key])[key] for name, key in _IDS.items()}
    ids |= dict.fromkeys(("src_agent", "dst_agent"), ids["agent"])
    return frame.with_columns(
        values.gather(frame[name]).alias(f"{name}_value") for name, values in ids.items() if name in frame.columns
    )


def _with_kernels(dispatches: pl.DataFrame, symbols: pl.DataFrame) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Dispatches with `kernel_id`, and the kernels with these ids."""
    names = symbols.select(pl.col("symbol").cast(dispatches["symbol"].dtype), "mangled", "kernarg_bytes")
    keys = ["name", "symbol", "sgpr_count", "vgpr_count", "accum_vgpr_count"]
    kernels = dispatches.select(keys).unique(maintain_order=True).with_row_index("kernel_id", 1)
    rows = dispatches.join(kernels, on=keys, how="left", maintain_order="left", nulls_equal=True)
    # all records of AMD's files have a dispatch id; runs of other formats may have none
    rows = rows.with_columns(pl.col("dispatch_id").fill_null(pl.int_range(1, pl.len() + 1)))
    kernel_rows = kernels.join(names, on="symbol", how="left", maintain_order="left")
    name = pl.col("name").cast(pl.String)
    records = kernel_rows.select(
        "kernel_id",
        code_object_id=0,
        kernel_name=pl.coalesce(pl.col("mangled").cast(pl.String).replace("", None), name),
        formatted_kernel_name=name,
        demangled_kernel_name=name,
        kernarg_segment_size="kernarg_bytes",
        sgpr_count="sgpr_count",
        arch_vgpr_count="vgpr_count",
        accum_vgpr_count="accum_vgpr_count",
    )
    return rows, records.to_dicts()


def _calls(regions: pl.DataFrame, marks: pl.DataFrame) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Calls, ranges and marks with the `list` that they belong to, and the texts of markers by their correlation."""
    common = [name for name in regions.columns if name in marks.columns]
    marks = marks.with_columns(start_ns="time_ns", end_ns="time_ns").select(*common, "start_ns", "end_ns")
    calls = pl.concat([regions.select(*common, "start_ns", "end_ns"), marks]).sort("start_ns", maintain_order=True)
    domain = pl.col("domain").cast(pl.String).str.to_lowercase()
    list_name = pl.when(domain.is_in(_APIS)).then(domain).otherwise(pl.lit("marker"))
    calls = calls.with_columns(category_of("MARKER_CORE_RANGE_API").alias("kind"), list_name.alias("list"))
    is_marker = pl.col("list") == "marker"
    first_free_correlation = int(calls.select(pl.col("correlation").max().fill_null(0)).item()) + 1
    calls = calls.with_columns(
        kind=pl.when(is_marker).then(pl.lit("MARKER_CORE_RANGE_API")).otherwise("kind"),
        # texts refer to markers by correlation, so no two markers may share one
        correlation=pl.when(is_marker).then(first_free_correlation + is_marker.cum_sum()).otherwise("correlation"),
        operation=pl.when(is_marker).then(pl.lit("roctxRange")).otherwise(pl.col("name").cast(pl.String)),
    )
    texts = calls.filter(is_marker).select(key="correlation", value=pl.col("name").cast(pl.String))
    return calls, texts.to_dicts()


def _named(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Records with the texts of their `kind` and `operation`."""
    if name.endswith("_api"):
        return frame.with_columns(pl.col("kind").cast(pl.String), pl.col("operation").cast(pl.String))
    column = {"kernel_dispatch": "", "memory_copy": "name"}.get(name, "type")
    operation = pl.col(column).cast(pl.String) if column else pl.lit("KERNEL_DISPATCH_COMPLETE")
    return frame.with_columns(kind=pl.lit(name.upper()), operation=operation)


def _object(**fields: pl.Expr | str) -> pl.Expr:
    """A JSON object with these keys; a text names a column."""
    columns = {key: pl.col(value) if isinstance(value, str) else value for key, value in fields.items()}
    return pl.struct([value.alias(key) for key, value in columns.items()])


def _record(name: str) -> pl.Expr:
    """A record of a list as a JSON object."""
    fields: dict[str, pl.Expr | str] = {
        "kind": "kind_number",
        "operation": "operation_number",
        "thread_id": "thread_value",
        "correlation_id": _object(internal="correlation", external="external_correlation"),
        "start_timestamp": "start_ns",
        "end_timestamp": "end_ns",
    }
    if name.endswith("_api"):
        fields["correlation_id"] = _object(
            internal="correlation", external="external_correlation", ancestor="parent_correlation"
        )
        return _object(**fields)
    fields["stream_id"] = _object(handle="stream_value")
    if name == "memory_copy":
        ends = {f"{end}_agent_id": _object(handle=f"{end}_agent_value") for end in ("src", "dst")}
        return _object(**fields, **ends, bytes="size_bytes")
    place = {"agent_id": _object(handle="agent_value"), "queue_id": _object(handle="queue_value")}
    if name != "kernel_dispatch":
        return _object(**fields, **place, address="address", allocation_size="size_bytes")
    sizes = {f"{size}_size": _object(**{axis: f"{size}_{axis}" for axis in "xyz"}) for size in ("workgroup", "grid")}
    kernel = {"kernel_id": "kernel_id", "dispatch_id": "dispatch_id"}
    kernel |= {"private_segment_size": "scratch_bytes", "group_segment_size": "lds_bytes"}
    return _object(**fields, dispatch_info=_object(**place, **kernel, **sizes))


def _metadata(run: Run, process: dict[str, Any]) -> dict[str, Any]:
    number = process["node"]
    node = {} if number is None else run.read("nodes").row(number, named=True)
    return {
        "node": {key: node[column] for key, column in _NODE.items() if node.get(column) is not None},
        "pid": process["pid"],
        "init_time": process["init_ns"],
        "fini_time": process["fini_ns"],
        "command": (process["command"] or "").split(),
        "config": {},
    }


def _agent(agent: dict[str, Any]) -> dict[str, Any]:
    """The record of an agent: the recorded one if it came from such a file, else one made of the known facts."""
    try:
        record = json.loads(agent["properties"] or "")
    except ValueError:
        record = None
    if isinstance(record, dict) and isinstance(record.get("id"), dict):
        return record
    lds_bytes = agent["lds_bytes"]
    facts = {name: agent[column] for name, column in AGENT_FACTS.items() if name != "agent_type"}
    facts["logical_node_type_id"] = agent["type_index"]
    facts["lds_size_in_kb"] = None if lds_bytes is None else lds_bytes // 1024
    kind = _AGENT_TYPES.get(str(agent["kind"]), 0)
    return {"id": {"handle": agent["agent_id"]}, "type": kind} | {k: v for k, v in facts.items() if v is not None}
