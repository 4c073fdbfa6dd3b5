"""The kind (`sort`: kernel, copy, region, ...), the times and the process of each event of a Chrome trace.

Kineto tells kinds by categories, rocprof and rpd2tracing by names and by labels of processes such as `GPU0`.
"""

from __future__ import annotations

import polars as pl

from wavewright.model.losses import Loss

_KERNELS = ("kernel", "gpu_memset", "concurrent_kernel")
_GPU_PROCESS = r"^GPU ?(\d+)(?: (.*))?$"
#: Phases of flow events and metadata, which are no events of their own. Flows of rocprof become correlations.
_LINKS = ("s", "t", "f", "M", "")
_DERIVED = ("QueueDepth", "Idle")  #: Counters of rpd2tracing and `wavewright convert`, which follow from the launches.


def classified(all_events: pl.DataFrame, labels: pl.DataFrame, base: int, losses: list[Loss]) -> pl.DataFrame:
    """Ranges and instants with times and `sort`: kernel, copy, annotation, wait, memory, region, sample, counter.

    `labels` are the metadata events with names, `base` is added to the times of all events (ns). Events of unknown
    phases and without times become losses.
    """
    names = labels.filter(pl.col("name").cast(pl.String) == "process_name")
    process_names = names.select("pid", process_label="label").unique("pid", keep="first", maintain_order=True)
    events = all_events.filter(~pl.col("ph").cast(pl.String).is_in(_LINKS)).drop("label")
    flows = all_events.filter(pl.col("cat").cast(pl.String) == "DataFlow")
    events = _with_flows(events, flows) if flows.height else events.drop("flow")
    events = events.join(process_names, on="pid", how="left", maintain_order="left")
    events = _with_ends(events.with_columns(start_ns=pl.coalesce("begin", pl.col("start_ns") + base)))
    cat, name, label = pl.col("cat").cast(pl.String), pl.col("name").cast(pl.String), pl.col("process_label")
    is_of_gpu = label.str.contains(_GPU_PROCESS).fill_null(value=False)
    is_gpu = is_of_gpu & (cat == "")
    is_of_copies = (cat == "") & (label == "COPY").fill_null(value=False)
    is_copy = is_of_copies | (is_gpu & name.str.contains("^(Copy|MEMORY_COPY_)"))
    # These ranges surround the work of a marker or graph on the GPU: as kernels they would count that work twice.
    is_frame = is_gpu & (pl.col("desc").str.starts_with("UserMarker frame") | name.str.contains(r"^Graph \S+$"))
    sort = _sort(is_gpu, is_copy, is_frame)
    from_label = pl.when(is_of_gpu).then(label.str.extract(_GPU_PROCESS, 1).cast(pl.Int64, strict=False))
    sorted_events = events.with_columns(
        sort=sort,
        device=pl.coalesce("device", "dev", from_label),
        product=pl.when(is_of_gpu).then(label.str.extract(_GPU_PROCESS, 2)),
        queue=pl.coalesce("queue", pl.when(is_gpu).then(pl.col("tid").cast(pl.Int64, strict=False))),
    )
    unread = sorted_events.filter(pl.col("sort").is_null())
    if unread.height:
        kinds = ", ".join(sorted(unread["ph"].cast(pl.String).unique()))
        losses.append(Loss("unread_records", unread.height, detail=f"events {kinds}"))
    timeless = sorted_events.filter(pl.col("start_ns").is_null() & pl.col("sort").is_not_null()).height
    if timeless:
        losses.append(Loss("malformed_events", timeless, detail="events without a time"))
    return sorted_events.filter(pl.col("start_ns").is_not_null() & (pl.col("sort") != "profiler"))


def _with_flows(events: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Events with the flows of rocprof as correlations: a flow leads from a time in a call to the start of its work."""
    events, by = events.drop("flow").with_row_index("at"), ["pid", "tid"]
    columns = {"begin": pl.col("start_ns"), "until": pl.col("start_ns") + pl.col("dur_ns")}
    ranges = events.filter(pl.col("ph") == "X").sort("start_ns").select("at", *by, "start_ns", **columns)
    for ph, is_end in (("s", pl.col("until") >= pl.col("start_ns")), ("t", pl.col("begin") == pl.col("start_ns"))):
        ends = flows.filter(pl.col("ph") == ph).select(*by, "flow", "start_ns").drop_nulls().sort("start_ns")
        near = ends.join_asof(ranges, on="start_ns", by=by, check_sortedness=False)
        flow_ends = near.filter(is_end).unique("at", keep="first", maintain_order=True).select("at", "flow")
        events = events.join(flow_ends, on="at", how="left", maintain_order="left")
        events = events.with_columns(correlation=pl.coalesce("correlation", "flow")).drop("flow")
    return events.drop("at")


def _sort(is_gpu: pl.Expr, is_copy: pl.Expr, is_frame: pl.Expr) -> pl.Expr:
    """The kind of an event: the first whose condition holds, so that general ones follow special ones; null = none."""
    ph, cat, name = (pl.col(column).cast(pl.String) for column in ("ph", "cat", "name"))
    is_range, is_instant = ph == "X", ph.is_in(("i", "I", "R", "P"))
    has_no_process = pl.col("pid").cast(pl.Int64, strict=False).is_null()
    # Start and end of the profiler are no events of the application.
    is_of_profiler = (cat == "Trace") | (is_instant & (cat == "") & has_no_process)
    conditions = {
        "profiler": is_of_profiler | ((ph == "C") & name.is_in(_DERIVED)),
        "copy": is_range & ((cat == "gpu_memcpy") | is_copy),
        "annotation": is_range & ((cat == "gpu_user_annotation") | is_frame),
        "kernel": is_range & (cat.is_in(_KERNELS) | is_gpu),
        "wait": is_range & (cat == "cuda_sync"),
        "region": is_range,
        "memory": is_instant & (name == "[memory]"),
        "sample": is_instant,
        "counter": ph == "C",
    }
    return pl.coalesce(pl.when(condition).then(pl.lit(kind)) for kind, condition in conditions.items())


def _with_ends(events: pl.DataFrame) -> pl.DataFrame:
    """Ranges with an end; a start (B) and an end (E) on one thread become one range."""
    ends = pl.coalesce("end", pl.col("start_ns") + pl.col("dur_ns"))
    ends = pl.when(pl.col("ph").cast(pl.String) == "X").then(ends).otherwise(pl.col("start_ns"))
    events = events.with_columns(end_ns=ends)
    is_half = pl.col("ph").cast(pl.String).is_in(("B", "E"))
    halves = events.with_row_index().filter(is_half)
    if not halves.height:
        return events
    open_: dict[tuple[str, str], list[int]] = {}
    end_of_start: dict[int, int | None] = {}  # row of a start -> time of its end; None = the trace has none
    columns = ("index", pl.col("ph").cast(pl.String), "pid", "tid", "start_ns")
    for index, ph, pid, tid, time in halves.sort("start_ns", maintain_order=True).select(columns).iter_rows():
        stack = open_.setdefault((pid, tid), [])
        if ph == "B":
            stack.append(index)
            end_of_start[index] = None
        elif stack:
            end_of_start[stack.pop()] = time
    pairs = pl.DataFrame([*end_of_start.items()], schema={"index": pl.UInt32, "ended": pl.Int64}, orient="row")
    table = events.with_row_index().join(pairs.with_columns(known=True), on="index", how="left", maintain_order="left")
    is_start = pl.col("known").fill_null(value=False)
    table = table.filter(is_start | ~is_half).with_columns(
        ph=pl.when(is_start).then(pl.lit("X")).otherwise(pl.col("ph").cast(pl.String)).cast(pl.Categorical),
        end_ns=pl.when(is_start).then("ended").otherwise("end_ns"),
    )
    return table.drop("index", "ended", "known")


def processes_of(events: pl.DataFrame, labels: pl.DataFrame, rank: int | None) -> pl.DataFrame:
    """The processes that have events on the CPU; a group (rank) without any is one process."""
    of_ranks = events.filter(~pl.col("sort").is_in(("counter", "annotation")))  # these may be without a rank
    group = of_ranks.select(group=pl.col("rank")).unique()
    key = pl.coalesce("pid_raw", "own_pid", "pid")
    cpu = events.filter(pl.col("sort").is_in(("region", "sample", "memory"))).select(group="rank", key=key)
    counts = cpu.group_by("group", "key").len()
    # Python's functions have the number 0 in some versions of PyTorch.
    several = counts.filter((pl.col("key") != "0") | (pl.len().over("group") == 1))
    groups = several.join(group, on="group", how="right", nulls_equal=True).select("group", "key", "len")
    groups = groups.with_columns(pid=pl.col("key").cast(pl.Int64, strict=False))
    groups = groups.sort("group", "pid", "key", nulls_last=True).with_row_index("process")
    process_names = labels.filter(pl.col("name").cast(pl.String) == "process_name")
    commands = process_names.select(key=pl.coalesce("pid_raw", "pid"), command="label")
    commands = commands.unique("key", keep="first", maintain_order=True)
    groups = groups.join(commands, on="key", how="left", maintain_order="left")
    rank_of_group = pl.coalesce(pl.col("group"), pl.lit(rank, pl.Int64))
    return groups.with_columns(rank=rank_of_group, source=pl.lit(0, pl.UInt32), guid=pl.lit(""))


def with_process(events: pl.DataFrame, processes: pl.DataFrame) -> pl.DataFrame:
    """The events with the number of their process: work of a GPU belongs to the busiest process of its rank."""
    main = processes.sort("len", "process", descending=[True, False], nulls_last=True).select("group", main="process")
    main = main.unique("group", keep="first", maintain_order=True)
    with_keys = events.with_columns(group=pl.col("rank"), key=pl.coalesce("pid_raw", "own_pid", "pid"))
    with_keys = with_keys.join(main, on="group", how="left", nulls_equal=True, maintain_order="left")
    numbers = processes.select("group", "key", "process")
    with_keys = with_keys.join(numbers, on=["group", "key"], how="left", nulls_equal=True, maintain_order="left")
    is_cpu = pl.col("sort").is_in(("region", "sample", "memory")) | pl.col("own_pid").is_not_null()
    is_cpu |= (pl.col("sort") == "counter") & pl.col("device").is_null()
    number = pl.when(is_cpu).then(pl.coalesce("process", "main")).otherwise(pl.col("main"))
    return with_keys.with_columns(number.alias("process")).drop("group", "key", "main")
