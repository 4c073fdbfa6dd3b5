"""`*_results.json` of rocprofv3: processes with their agents, kernels, calls, copies, memory and counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.readers.files.text import UNREADABLE_JSON, json_of, records_of
from wavewright.readers.run.event_rows import finished, link, with_numbers
from wavewright.readers.run.rocprofv3.event_tables import add_events
from wavewright.readers.run.rocprofv3.records import CALLS, DESCRIBED, RECORDS, File, Process, RecordKind

_BATCH = 1 << 15  #: Records that are Python objects at the same time.
_INT64_MAX = (1 << 63) - 1
_AGENT_KINDS = {"1": "CPU", "2": "GPU", "3": "NIC"}


def read_rocprofv3_json(path: Path) -> MemorySource:
    """The tables of the processes in a file; records that do not fit the format become a loss.

    A call that ends when it begins is a sample, as in ROCpd. `dispatches.event` numbers the dispatches; counters refer
    to it. Raises `UsageError, NotATraceError` when the file cannot be read.
    """
    problem, advice = "not a complete result file of rocprofv3", "check that the copy is complete, or record again"
    processes = json_of(path, File, problem=problem, advice=advice).processes
    if not processes:
        raise NotATraceError("a result file of rocprofv3 without a process", where=str(path), advice="record again")
    losses: list[Loss] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    events: dict[str, list[pl.DataFrame]] = {}
    for number, process in enumerate(processes):
        for name, frame in _described(process, number).items():
            tables.setdefault(name, []).append(frame)
        for name, frame in _events(process, number, losses).items():
            events.setdefault(name, []).append(frame)
    table_of_name = {name: pl.concat(frames) for name, frames in tables.items()}
    table_of_name |= {name: table_of_name[name].with_row_index(number) for name, number in _NUMBERS.items()}
    return _assembled(path, table_of_name, {name: pl.concat(parts) for name, parts in events.items()}, losses)


_NUMBERS = {"nodes": "node", "agents": "agent", "code_objects": "code_object", "symbols": "symbol"}


def _described(process: Process, number: int) -> dict[str, pl.DataFrame]:
    """The tables of one process that describe node, process, agents and kernels."""
    metadata = process.metadata
    process_row = {
        "process": number,
        "source": 0,
        "node": number,
        "pid": metadata.pid,
        "guid": "",
        "command": " ".join(metadata.command),
        "init_ns": metadata.init_time,
        "fini_ns": metadata.fini_time,
        "properties": _text({"config": metadata.config}),
    }
    # The first of these has the id 0, which is never used.
    code_objects = [record for record in process.code_objects if record.get("code_object_id")]
    symbols = [record for record in process.kernel_symbols if record.get("kernel_id")]
    kinds = {"1": "FILE", "2": "MEMORY"}
    storages = [{"storage": kinds.get(str(record.get("storage_type")))} for record in code_objects]
    names = [{"name": _symbol_name(record)} for record in symbols]
    rows: dict[str, list[dict[str, Any]]] = {
        "nodes": [_row("nodes", metadata.node)],
        "processes": [process_row],
        "agents": [_agent_row(agent, number) for agent in process.agents],
    }
    for table, records, facts in (("code_objects", code_objects, storages), ("symbols", symbols, names)):
        pairs = zip(records, facts, strict=True)
        rows[table] = [_row(table, row, process=number, properties=_text(row)) | fact for row, fact in pairs]
    return {name: _typed_frame(name, table_rows) for name, table_rows in rows.items()}


def _row(table: str, record: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The columns of an object that `DESCRIBED` declares, and others."""
    return {ours: record.get(field) for ours, field in DESCRIBED[table].items()} | others


def _typed_frame(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a table without its row numbers; a value that is not of the type of its column is null."""
    schema: dict[str, Any] = {key: dtype for key, dtype in RUN[name].dtypes.items() if key != _NUMBERS.get(name)}
    schema |= {"object_id": pl.Int64} if name == "symbols" else {}
    types = {key: str if dtype == pl.String else int for key, dtype in schema.items()}
    typed_rows = [
        {key: _fitting(value) if isinstance(value, types[key]) else None for key, value in row.items()} for row in rows
    ]
    return pl.DataFrame(typed_rows, schema)


def _agent_row(agent: Mapping[str, Any], number: int) -> dict[str, Any]:
    kilobytes = agent.get("lds_size_in_kb")
    return _row(
        "agents",
        agent,
        process=number,
        agent_id=_handle(agent.get("id")),
        kind=_AGENT_KINDS.get(str(agent.get("type"))),
        lds_bytes=kilobytes * 1024 if isinstance(kilobytes, int) else None,
        properties=_text(agent),
    )


def _symbol_name(record: Mapping[str, Any]) -> Any:
    names = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")
    return next((record[name] for name in names if record.get(name)), "")


def _events(process: Process, number: int, losses: list[Loss]) -> dict[str, pl.DataFrame]:
    """The records of one process by table."""
    by_table: dict[str, list[pl.DataFrame]] = {}
    unread: dict[str, int] = {}
    for name, raw in (process.callback_records | process.buffer_records).items():
        try:
            records = msgspec.json.decode(raw, type=list[msgspec.Raw])
        except UNREADABLE_JSON:
            losses.append(Loss("malformed_events", detail=name))
            continue
        kind = RECORDS.get(name) or (CALLS if name.endswith("_api") else None)
        if name.startswith("pc_sample_") and records:
            losses.append(Loss("samples_beside", len(records)))
        elif kind is None and records:
            unread[name] = len(records)
        elif kind is not None and records:
            frame = pl.concat(_frames(kind, name, records, losses))
            by_table.setdefault(kind.table, []).append(frame.with_columns(process=pl.lit(number, pl.UInt32)))
    if unread:
        losses.append(Loss("unread_records", sum(unread.values()), detail=", ".join(unread)))
    return {table: _named(table, pl.concat(frames), process) for table, frames in by_table.items()}


def _frames(kind: RecordKind, name: str, records: Sequence[msgspec.Raw], losses: list[Loss]) -> Iterator[pl.DataFrame]:
    """The columns of the records, a batch at a time; a record that does not fit its kind is a loss."""
    values_of = attrgetter(*kind.columns.values())
    names = [ours for ours in kind.columns if ours != "records"]
    loss_count = 0
    for begin in range(0, len(records), _BATCH):
        batch = records[begin : begin + _BATCH]
        sound: list[Any] = records_of(batch, kind.fields)
        loss_count += len(batch) - len(sound)
        values = dict(zip(kind.columns, zip(*map(values_of, sound), strict=True), strict=True)) if sound else {}
        columns = []
        for ours in names:
            column = values.get(ours, ())
            if ours in ("address", "flags"):
                texts = [None if (plain := _handle(value)) is None else str(plain) for value in column]
                columns.append(pl.Series(ours, texts, pl.String))
            else:
                columns.append(pl.Series(ours, column, pl.Int64, strict=False))
        frame = pl.DataFrame(columns)
        yield frame if kind.table != "counters" else _counted(frame, values.get("records", ()))
    if loss_count:
        losses.append(Loss("malformed_events", loss_count, detail=name))


def _counted(dispatches: pl.DataFrame, records: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """One row per value of a counter."""
    pairs = [(at, value) for at, values in enumerate(records) for value in values]
    rows = [(at, value.counter_id.handle, value.value) for at, value in pairs]
    schema = {"at": pl.UInt32, "counter_id": pl.Int64, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row", strict=False)
    return frame.join(dispatches.with_row_index("at"), on="at", maintain_order="left").drop("at")


def _named(table: str, frame: pl.DataFrame, process: Process) -> pl.DataFrame:
    """Records with the names of their operations, which the file stores separately."""
    if table == "counters":
        names = {_handle(counter.get("id")): str(counter.get("name", "")) for counter in process.counters}
        columns = {"counter_id": [_fitting(key) for key in names], "counter": list(names.values())}
        counters = pl.DataFrame(columns, {"counter_id": pl.Int64, "counter": pl.String})
        with_names = frame.join(counters, on="counter_id", how="left", maintain_order="left")
        return with_names.with_columns(pl.col("counter").fill_null(pl.format("counter {}", "counter_id")))
    kinds = [(number, kind.kind, kind.operations) for number, kind in enumerate(process.strings.buffer_records)]
    rows = [(number, at, kind, name) for number, kind, names in kinds for at, name in enumerate(names)]
    schema = {"kind": pl.Int64, "operation": pl.Int64, "category": pl.Categorical, "function": pl.Categorical}
    names_of = pl.DataFrame(rows, schema, orient="row")
    with_names = frame.join(names_of, on=["kind", "operation"], how="left", maintain_order="left").drop("operation")
    if table != "regions":
        ranges = _texts(process.strings.correlation_id.external, "external_correlation", "region_name")
        with_names = with_names.join(ranges, on="external_correlation", how="left", maintain_order="left")
        return with_names.rename({"function": "name" if table == "copies" else "operation"})
    messages = _texts(process.strings.marker_api, "correlation", "name")
    is_marker = pl.col("category").cast(pl.String).str.starts_with("MARKER")
    with_names = with_names.join(messages, on="correlation", how="left", maintain_order="left")
    name_of_call = pl.when(is_marker).then(pl.coalesce("name", "function")).otherwise(pl.col("function"))
    return with_names.with_columns(name_of_call.alias("name"), parent_correlation="ancestor")


def _texts(values: Sequence[Any], key: str, name: str) -> pl.DataFrame:
    """Strings that the file stores by number."""
    texts = {text.key: text.value for text in values if 0 <= text.key <= _INT64_MAX}
    return pl.DataFrame({key: list(texts), name: list(texts.values())}, {key: pl.Int64, name: pl.Categorical})


def _assembled(
    path: Path, tables: dict[str, pl.DataFrame], events: dict[str, pl.DataFrame], losses: list[Loss]
) -> MemorySource:
    objects = tables["code_objects"].rename({"code_object_id": "object_id"})
    symbols = tables["symbols"].drop("code_object")
    tables["symbols"] = link(symbols, objects, ["process", "object_id"], "code_object")
    events = with_numbers(events, tables)
    for ours, column in (("agent", "agent_id"), ("src_agent", "src_id"), ("dst_agent", "dst_id")):
        agents = tables["agents"].select("process", pl.col("agent").alias(ours), pl.col("agent_id").alias(column))
        with_column = {name: frame for name, frame in events.items() if column in frame.columns}
        events |= {name: link(frame, agents, ["process", column], ours) for name, frame in with_column.items()}
    for name in ("dispatches", "counters"):
        if name in events:
            events[name] = _with_kernel_names(events[name], tables["symbols"], losses)
    add_events(tables, events, losses)
    return MemorySource(str(path), "rocprofv3 JSON", tables=finished(tables, losses), losses=losses)


def _with_kernel_names(dispatches: pl.DataFrame, symbols: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
    """Dispatches with the name and registers of their kernel symbol."""
    key, registers = ["process", "symbol_id"], ("sgpr_count", "vgpr_count", "accum_vgpr_count")
    kernels = symbols.select(*key, pl.col("name").cast(pl.Categorical), *registers)
    kernels = kernels.unique(key, keep="first", maintain_order=True)
    rows = dispatches.join(kernels, on=key, how="left", maintain_order="left")
    unknown = rows["name"].null_count()
    if unknown:
        losses.append(Loss("dangling_rows", unknown, detail="dispatches of kernels that the file does not list"))
    return rows.with_columns(pl.col("name").fill_null(pl.format("kernel {}", "symbol_id").cast(pl.Categorical)))


def _handle(value: Any) -> Any:
    """A number or address, which some versions write as `{"handle": ...}`."""
    return value.get("handle", value.get("value")) if isinstance(value, dict) else value


def _fitting(value: Any) -> Any:
    """None for integers beyond 64 bits."""
    return None if isinstance(value, int) and not -_INT64_MAX <= value <= _INT64_MAX else value


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
