"""Chrome traces as runs: PyTorch's (Kineto), and traces of rocprof, RPD and others as far as possible.

What an event is, is told by its category; where there is none, by the name of its process (`GPU2`, `COPY`, ...):

| event | table | domain |
| --- | --- | --- |
| kernel, gpu_memset | dispatches | |
| gpu_memcpy | copies, in the words of ROCpd | |
| cuda_runtime, cuda_driver, hip_runtime, ... | regions | HIP |
| cpu_op | regions | OPERATOR |
| user_annotation | regions | MARKER |
| python_function | regions | PYTHON |
| other ranges | regions | the category in upper case; CPU where there is none |
| `[memory]` | allocations | |
| other instants | samples | as ranges |
| counters (C) | monitors, until the next value | |

`gpu_user_annotation` repeats annotations for the GPU: it is an extra table. So is `cuda_sync`, what a stream or a
thread waited for, whose arguments the call with its correlation has, too. `QueueDepth` and `Idle` of rpd2tracing
follow from the launches and are not read. Times are those of the file plus its `baseTimeNanoseconds`. Sizes of grids
are stored in workgroups, and become lanes here.

Stages: `events` decodes the file into one frame, `processes` gives each event its kind (the column `sort`) and its
process, `_tables` splits the frame by kind, `joined_graphs` finds the calls of replayed graphs, `_with_agents` GPUs.
`kinds` are the tables while they are made; they include `annotations` and `waits`, which a run does not have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from wavewright.base.toml import packaged
from wavewright.errors import WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.run.chrome.captured_graphs import captured_graphs, graph_launches
from wavewright.readers.run.chrome.events import SIZES, ChromeFile, chrome_events, read_chrome
from wavewright.readers.run.chrome.joined_graphs import joined_graphs
from wavewright.readers.run.chrome.processes import classified, processes_of, with_process
from wavewright.readers.run.event_rows import finished, link, numbered, with_numbers

_FACTS = packaged("names.toml", __package__)
DOMAINS: dict[str, str] = _FACTS["domains"]  #: Category of an event -> domain of the region.

_DIRECTIONS: dict[str, str] = _FACTS["directions"]
_RANK_IN_NAME = re.compile(r"rank_?(\d{1,9})")
_CUDA = r"^cu(da)?[A-Z]"  #: Functions of CUDA's runtime and driver.
_MOST_DEVICES = 1 << 12  #: GPUs that become agents: the numbers of devices in an untrusted file may be any.


def read_kineto(path: Path, captures: Sequence[Path] = (), snapshot: Path | None = None) -> MemorySource:
    """The tables of a Chrome trace.

    `captures` are traces of the capture of graphs that it replays, `snapshot` is the memory snapshot of its process.
    Raises `UsageError, NotATraceError` when the file cannot be read; of a capture that cannot be, a loss says why.
    """
    losses: list[Loss] = []
    file = read_chrome(path, losses)
    tables, kinds = _events(file, losses)
    graph_calls, graph_losses = _with_graphs(kinds, path, _rank(file), captures)
    losses += graph_losses
    waits = kinds.pop("waits")
    tables["agents"], kinds = _with_agents(kinds, file)
    annotations = kinds.pop("annotations")
    extras = {"gpu_user_annotations": annotations.select("name", "start_ns", "end_ns")} if annotations.height else {}
    if waits.height:
        extras["gpu_waits"] = waits.select("process", "name", "start_ns", "end_ns", "correlation", properties="args")
    is_kineto = file.deviceProperties is not None or file.schemaVersion is not None
    run_tables = finished(tables | kinds | graph_calls, losses)
    losses += [*_launched_before(run_tables), *_of_other_vendor(run_tables)]
    version = "" if file.schemaVersion is None else str(file.schemaVersion)
    form = "Kineto" if is_kineto else "Chrome trace"
    source = MemorySource(str(path), form, version, run_tables, losses, extras)
    if snapshot:
        from wavewright.readers.run.memory_snapshot import join_snapshot

        join_snapshot(source, snapshot)
    return source


def _events(file: ChromeFile, losses: list[Loss]) -> tuple[dict[str, pl.DataFrame], dict[str, pl.DataFrame]]:
    """The tables of processes and threads, and events by kind, with their numbers."""
    all_events = chrome_events(file, losses)
    base_ns = file.baseTimeNanoseconds
    base_ns = base_ns if isinstance(base_ns, int) and abs(base_ns) < 1 << 62 else 0
    labels = all_events.filter((pl.col("ph") == "M") & pl.col("label").is_not_null())
    events = classified(all_events, labels, base_ns, losses)
    processes = processes_of(events, labels, _rank(file))
    tables: dict[str, pl.DataFrame] = {"processes": processes}
    kinds = with_numbers(_tables(with_process(events, processes)), tables)
    kinds["regions"] = with_arguments_of_waits(kinds["regions"], kinds["waits"])
    for name in ("dispatches", "copies"):
        kinds[name] = with_sizes_of_calls(kinds[name], kinds["regions"])
    tables["threads"] = _with_thread_names(tables["threads"], processes, labels)
    return tables, kinds


def _with_graphs(
    kinds: dict[str, pl.DataFrame], path: Path, rank: int | None, captures: Sequence[Path]
) -> tuple[dict[str, pl.DataFrame], list[Loss]]:
    """The table of captured calls, and losses; GPU work in `kinds` gets the call that it was captured in."""
    if not graph_launches(kinds["regions"]).height:
        return {}, []
    losses: list[Loss] = []
    candidates = [captured_graphs(kinds, path, rank)]
    ranks = {capture: _RANK_IN_NAME.search(capture.name) for capture in captures}
    of_rank = [capture for capture, match in ranks.items() if match and int(match[1]) == rank]
    for capture in of_rank or captures:
        try:
            file = read_chrome(capture, losses)
            candidates.append(captured_graphs(_events(file, losses)[1], capture, _rank(file)))
        except WavewrightError as error:
            losses.append(Loss("unreadable_capture", detail=str(error)))
    matches = joined_graphs(kinds, [graphs for graphs in candidates if graphs])
    if matches is None:
        return {}, losses
    kinds["dispatches"], kinds["copies"] = matches.dispatches, matches.copies
    return ({"graph_calls": matches.calls} if matches.calls.width else {}), losses + matches.losses


def _launched_before(tables: dict[str, pl.DataFrame]) -> list[Loss]:
    """GPU work without its launch, where launches were recorded: it was launched before the recording started."""
    key = ["process", "correlation"]
    calls = tables["regions"].select(key).drop_nulls().unique()
    work = pl.concat([tables[name].select(key) for name in ("dispatches", "copies")])
    count = work.join(calls, on=key, how="anti").height
    return [Loss("launched_before", count)] if 0 < count < work.height else []


def _of_other_vendor(tables: dict[str, pl.DataFrame]) -> list[Loss]:
    """GPUs whose runtime is CUDA: facts about GPUs and hints for ROCm are not about them."""
    names = tables["regions"].filter(pl.col("domain") == "HIP")["name"].unique().cast(pl.String)
    if not names.str.contains(_CUDA).any() or names.str.starts_with("hip").any():
        return []
    products = tables["agents"].filter(pl.col("kind") == "GPU")["product"].unique().drop_nulls().cast(pl.String)
    return [Loss("other_vendor", detail=", ".join(products.sort()) or "a GPU without a name")]


def _rank(file: ChromeFile) -> int | None:
    rank = file.distributedInfo.get("rank") if isinstance(file.distributedInfo, dict) else None
    return rank if isinstance(rank, int) and 0 <= rank < 1 << 31 else None


def _tables(events: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Events by the table that they belong to, with the names of its columns."""
    links = {"correlation": "correlation", "external_correlation": "external"}
    gpu = events.filter(pl.col("sort").is_in(("kernel", "copy", "annotation", "wait"))).with_columns(
        tid=_number("own_tid"),
        stream_id=pl.coalesce("stream", pl.when(pl.col("queue").is_null()).then(_number("tid"))),
        queue_id="queue",
        **links,
    )
    is_collective = pl.col("args").str.contains('"Collective name"', literal=True)
    dispatches = gpu.filter(pl.col("sort") == "kernel").with_columns(properties=pl.when(is_collective).then("args"))
    copies = gpu.filter(pl.col("sort") == "copy").with_columns(size_bytes="size", name=_direction())
    cpu = events.filter(pl.col("sort").is_in(("region", "sample"))).with_columns(
        tid=pl.coalesce("own_tid", "tid").cast(pl.Int64, strict=False),
        category=pl.coalesce(pl.col("kind"), pl.col("cat").cast(pl.String)).cast(pl.Categorical),
        domain=_domain().cast(pl.Categorical),
        **links,
    )
    function = pl.when(pl.col("domain").cast(pl.String) != "MARKER").then("name")
    cpu = cpu.with_columns(function=function, event_properties=kept_arguments())
    memory = events.filter(pl.col("sort") == "memory").with_columns(
        tid=_number("tid"),
        type=pl.when(pl.col("allocated") > 0).then(pl.lit("ALLOC")).otherwise(pl.lit("FREE")),
        level=pl.lit("FRAMEWORK"),
        size_bytes=pl.col("allocated").clip(lower_bound=0),
        device=pl.when(pl.col("memory_kind") != 0).then(pl.col("memory_device")),
        properties="args",
    )
    tables = {
        "dispatches": dispatches,
        "copies": copies,
        "annotations": gpu.filter(pl.col("sort") == "annotation"),
        "waits": gpu.filter(pl.col("sort") == "wait"),
        "regions": cpu.filter(pl.col("sort") == "region"),
        "samples": cpu.filter(pl.col("sort") == "sample").with_columns(time_ns="start_ns"),
        "allocations": memory,
        "monitors": _monitors(events.filter(pl.col("sort") == "counter")),
    }
    # Ids in the file; in a run, columns of these names are numbers of rows, which `with_numbers` adds.
    return {name: frame.drop("queue", "stream", strict=False) for name, frame in tables.items()}


def _monitors(points: pl.DataFrame) -> pl.DataFrame:
    """Counters as intervals: each value lasts until the next of its name, process and GPU; the last has no length."""
    places = points.with_columns(pl.col("name").cast(pl.String)).select(*_PLACE, "args")
    rows = [(*place, key, value) for *place, args in places.iter_rows() for key, value in _numbers(args).items()]
    schema = _PLACE | {"key": pl.String, "value": pl.Float64}
    samples = pl.DataFrame(rows, schema=schema, orient="row").sort("start_ns", maintain_order=True)
    is_only = (pl.col("key") == pl.col("name")) | (pl.col("key").n_unique().over("pid", "name") == 1)
    samples = samples.with_columns(pl.when(is_only).then("name").otherwise(pl.format("{} {}", "name", "key")))
    series = ("process", "pid", "device", "name")
    next_ns = pl.col("start_ns").shift(-1).over(series)
    is_end = next_ns.is_null() & (pl.len().over(series) > 1)
    return samples.with_columns(end_ns=next_ns.fill_null(pl.col("start_ns")), is_end=is_end).filter(~pl.col("is_end"))


#: What the values of one event of a counter have in common.
_PLACE = {"process": pl.UInt32, "pid": pl.String, "device": pl.Int64, "start_ns": pl.Int64, "name": pl.String}


def _numbers(args: str | None) -> dict[str, float]:
    """The numbers among the arguments of a counter; rpd2tracing writes them as strings."""
    try:
        values = msgspec.json.decode(args or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {}
    numbers = {}
    for key, value in values.items():
        with suppress(ValueError, TypeError, OverflowError):
            number = float(value)
            if isfinite(number) and not isinstance(value, bool):
                numbers[key] = number
    return numbers


def _number(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Int64, strict=False)


def _direction() -> pl.Expr:
    """The name of a copy in the words of ROCpd."""
    name = pl.col("name").cast(pl.String)
    spellings = (pl.col("direction"), name.str.extract(r"\b([HDP]to[HDP])\b"), name)
    known_names = (spelling.replace_strict(_DIRECTIONS, default=None, return_dtype=pl.String) for spelling in spellings)
    return pl.coalesce(*known_names, name).cast(pl.Categorical)


def _domain() -> pl.Expr:
    """The domain of a CPU event: by its category, else by its kind, its name, or the label of its process."""
    cat, name = pl.col("cat").cast(pl.String), pl.col("name").cast(pl.String)
    label = pl.col("process_label").fill_null("")
    conditions = {
        "HIP": name.str.contains("^(__)?hip[A-Z]") | label.str.contains("HIP API"),
        "HSA": name.str.starts_with("hsa_") | label.str.contains("HSA API"),
        "MARKER": label.str.contains("(?i)marker"),
    }
    names = (pl.when(condition).then(pl.lit(kind)) for kind, condition in conditions.items())
    by_name = pl.coalesce(*names, pl.lit("CPU"))
    domain = cat.replace_strict(DOMAINS, default=None, return_dtype=pl.String)
    by_kind = pl.col("kind").str.extract("^([A-Z]+)_")  # ROCpd's names of kinds, which `wavewright convert` writes
    return pl.when(cat == "").then(pl.coalesce(by_kind, by_name)).otherwise(pl.coalesce(domain, cat.str.to_uppercase()))


def _with_thread_names(threads: pl.DataFrame, processes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The threads with the names that metadata events (`thread_name`) give them."""
    pid = pl.coalesce("pid_raw", "pid").cast(pl.Int64, strict=False)
    names = labels.filter(pl.col("name").cast(pl.String) == "thread_name")
    names = names.select(pid.alias("pid"), _number("tid"), name=pl.col("label").str.strip_chars())
    names = names.unique(["pid", "tid"], keep="first", maintain_order=True)
    keys = threads.join(processes.select("process", "pid"), on="process", how="left", maintain_order="left")
    return keys.join(names, on=["pid", "tid"], how="left", maintain_order="left").drop("pid")


def _with_agents(kinds: dict[str, pl.DataFrame], file: ChromeFile) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """One GPU per process and device; hosts that copies name are agents, too."""
    gpus = numbered([kinds[name] for name in ("dispatches", "copies", "monitors")], ["process", "device"], "agent")
    gpus = gpus.head(_MOST_DEVICES)  # others have no row to point at
    labels = kinds["dispatches"].select("device", "product").drop_nulls().unique("device", keep="first")
    products = dict(labels.iter_rows())
    rows = [
        {"agent": agent, "process": process, "kind": "GPU", "product": products.get(device)} | _device(file, device)
        for agent, process, device in gpus.iter_rows()
    ]
    kinds = {name: link(frame, gpus, ["process", "device"], "agent") for name, frame in kinds.items()}
    # Memory uses HIP's device numbers, kernels the numbers of the node: only a single GPU is certainly the same.
    single = gpus.filter(pl.len().over("process") == 1).select("process", single="agent")
    memory = kinds["allocations"].join(single, on="process", how="left", maintain_order="left")
    is_gpu = pl.col("device").is_not_null()
    kinds["allocations"] = memory.with_columns(agent=pl.when(is_gpu).then(pl.coalesce("single", "agent")))
    name = pl.col("name").cast(pl.String)
    copies = kinds["copies"]
    hosts = numbered([copies.filter(name.str.contains("HOST")).with_columns(host=0)], ["process", "host"], "agent")
    hosts = hosts.with_columns(pl.col("agent") + len(rows)).drop("host")
    rows += [{"agent": agent, "process": process, "kind": "CPU"} for agent, process in hosts.iter_rows()]
    copies = copies.join(hosts.rename({"agent": "host"}), on="process", how="left", maintain_order="left")
    host_names = {"src_agent": "HOST_TO", "dst_agent": "TO_HOST"}
    is_host = {side: name.str.contains(part) for side, part in host_names.items()}
    kinds["copies"] = copies.with_columns(
        **{side: pl.when(is_host[side]).then("host").otherwise("agent") for side in host_names}
    )
    return frame_of(RUN["agents"], rows), kinds


def _device(file: ChromeFile, device: int) -> dict[str, Any]:
    """The recorded properties of a device.

    Its numbers there may be those of HIP and those of the events those of the node: then all must be of one kind.
    """
    devices = file.deviceProperties if isinstance(file.deviceProperties, list) else []
    rows = [row for row in devices if isinstance(row, dict)]
    properties: dict[str, Any] = next((row for row in rows if row.get("id") == device), {})
    if not properties and rows and all(row.get("name") == rows[0].get("name") for row in rows):
        properties = {key: value for key, value in rows[0].items() if key != "id"}

    def number(key: str) -> int | None:
        value = properties.get(key)
        return value if isinstance(value, int) and 0 <= value < 1 << 63 else None

    return ({"product": str(properties["name"])} if "name" in properties else {}) | {
        "agent_id": device,
        "absolute_index": device,
        "cu_count": number("numSms"),
        "wave_lanes": number("warpSize"),
        "lds_bytes": number("maxSharedMemoryPerMultiProcessor") or number("sharedMemPerBlock"),
        "properties": msgspec.json.encode(properties).decode(),
    }


# --- arguments of calls of a Chrome trace: which are stored, and what GPU work and waits share with their call ---


_WITH_ARGUMENTS = ("OPERATOR", "MARKER")
#: Arguments that are columns, or about the recording; PyTorch gives every call some of them.
_OF_EVERY_CALL = "External id|correlation|correlation_raw|cid|cbid|rank|pid_raw|Ev Idx|Record function id|finished"


def kept_arguments() -> pl.Expr:
    """The arguments of a CPU event as JSON: of operators and markers, and of calls that have any of their own.

    A launch of a kernel has those of the dispatch and the long name of the kernel, which the dispatch has, too.
    """
    args, domain = pl.col("args"), pl.col("domain").cast(pl.String)
    bare = args.str.replace_all(rf'"(?:{_OF_EVERY_CALL})"\s*:', "")
    is_call = (domain == "HIP") & bare.str.contains('"\\s*:') & ~args.str.contains(r'"kernel"\s*:')
    return pl.when(domain.is_in(_WITH_ARGUMENTS) | is_call).then(args)


def with_sizes_of_calls(work: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """GPU work whose size only the call that issued it has, with the size of that call; grids become lanes."""
    key = ["process", "correlation"]
    columns = [*SIZES, "lds_bytes", "size"]
    has_size = pl.any_horizontal(pl.col("grid_x", "size", "call_size").is_not_null())
    sizes = calls.filter(has_size).drop_nulls("correlation").with_columns(size=pl.coalesce("size", "call_size"))
    of_calls = sizes.select(*key, *columns).unique(key, keep="none")
    rows = work.join(of_calls, on=key, how="left", maintain_order="left", suffix="_of_call")
    table = rows.with_columns(pl.coalesce(name, f"{name}_of_call").alias(name) for name in columns)
    lanes = {f"workgroup_{axis}": pl.col(f"block_{axis}") for axis in "xyz"}
    lanes |= {f"grid_{axis}": pl.col(f"grid_{axis}") * pl.col(f"block_{axis}") for axis in "xyz"}
    return table.with_columns(**lanes, size_bytes=pl.col("size")).drop(f"{name}_of_call" for name in columns)


def with_arguments_of_waits(calls: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    """The calls, with the arguments of the wait of the GPU that has their correlation added to their own."""
    if not waits.height:
        return calls
    key = ["process", "correlation"]
    wait_rows = waits.drop_nulls("correlation").select(*key, wait="args").unique(key, keep="first", maintain_order=True)
    rows = calls.join(wait_rows, on=key, how="left", maintain_order="left")
    places = rows.with_row_index().filter(pl.col("wait").is_not_null())
    texts = [_merged(call, wait) for call, wait in places.select("args", "wait").iter_rows()]
    properties = rows["event_properties"].scatter(places["index"], pl.Series(texts, dtype=pl.String))
    return rows.with_columns(properties.alias("event_properties")).drop("wait")


def _merged(call: str, wait: str) -> str:
    """The members of two JSON objects; those of the call count where both have one."""
    values: dict[str, Any] = {}
    for text in (wait, call):
        value = msgspec.json.decode(text)
        values |= value if isinstance(value, dict) else {}
    return msgspec.json.encode(values).decode()
