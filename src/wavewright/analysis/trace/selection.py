"""Selection of a part of a trace: kernel, shader engine, SIMD, wave, time, source file and line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import polars as pl

from wavewright.analysis.trace.clocks import engine_offsets
from wavewright.base.bounds import check_range
from wavewright.errors import UsageError
from wavewright.model.executions import attempt_cycles
from wavewright.model.trace import ThreadTrace

_FARTHEST = 1 << 62  #: Times are clipped to this, so that adding the offset of a clock does not overflow 64 bits.
#: Tables of single shader engines that follow `--se`.
_ENGINE_TABLES = ("shader_engines", "occupancy", "sampled_counters", "other_simd", "realtime", "events", "dispatches")


@dataclass(frozen=True)
class Selection:
    """Selected waves, time window and code rows; an empty field selects everything."""

    kernel: str | None = None  #: Part of the kernel's name, mangled or not; case matters.
    shader_engines: tuple[int, ...] = ()
    simds: tuple[int, ...] = ()
    waves: tuple[int, ...] = ()  #: Numbers of `waves.wave`.
    start_cycles: int | None = None
    #: Executions whose first attempt to issue is in [start, end), on the common clock of all shader engines.
    end_cycles: int | None = None
    file: str | None = None  #: End of a source path; matches any frame of an inline chain.
    first_line: int | None = None
    last_line: int | None = None

    @property
    def chooses_waves(self) -> bool:
        """True if some waves may be left out."""
        return bool(self.kernel or self.shader_engines or self.simds or self.waves)

    @property
    def chooses_time(self) -> bool:
        """True if a time window is selected."""
        return self.start_cycles is not None or self.end_cycles is not None

    @property
    def window(self) -> tuple[int, int]:
        """The time window [start, end), clipped to what 64 bits hold with an offset."""
        start = -_FARTHEST if self.start_cycles is None else self.start_cycles
        end = _FARTHEST if self.end_cycles is None else self.end_cycles
        return max(-_FARTHEST, min(start, _FARTHEST)), max(-_FARTHEST, min(end, _FARTHEST))

    @property
    def chooses_rows(self) -> bool:
        """True if only code rows of a file or line are selected."""
        return self.file is not None or self.first_line is not None


def select(trace: ThreadTrace, selection: Selection) -> ThreadTrace:
    """Return the trace with only the selected waves and time window; see `selected_rows` for files and lines.

    Waves keep their numbers. A wave that the window cuts starts where its last instruction before the window ended, so
    that the gap before its first selected instruction keeps its length; its states are cut likewise. Occupancy,
    counters and the other streams of shader engines remain complete, except for engines left out. Raises `UsageError`
    when nothing is left, or the time ends before it starts.
    """
    if not (selection.chooses_waves or selection.chooses_time):
        return trace
    check_range(selection.start_cycles, selection.end_cycles, "the time")
    if trace.samples.height and not trace.waves.height:  # PC samples have kernels, but no waves
        if selection.shader_engines or selection.simds or selection.waves or selection.chooses_time:
            what = "PC samples can be selected by kernel, dispatch, file and line only"
            raise UsageError(what, where=trace.source.path, advice="leave out --se, --simd, --wave and --time")
        return select_samples(trace, selection.kernel or "")
    waves = trace.waves.filter(wave_filter(trace, selection))
    if 0 < waves.height == trace.waves.height and not (selection.chooses_time or selection.shader_engines):
        return trace  # every wave is of the kernel, as it is where --kernel chose the dispatch
    tables = {name: frame for name, frame in trace.tables.items() if name not in ("waits", "stored_totals", "losses")}
    if selection.chooses_time:
        waves, tables["states"], is_selected = _cut_to_time(trace, waves, selection)
    else:
        is_selected = trace.instructions["wave"].is_in(waves["wave"].implode())
    if not waves.height:
        numbers = ", ".join(map(str, trace.waves["se"].unique().sort().to_list())) or "none"
        kernels = ", ".join(name[:60] for name in trace.kernels["demangled"].head(4).to_list()) or "none"
        advice = f"shader engines with waves: {numbers}; kernels: {kernels}"
        raise UsageError("no wave matches these filters", where=trace.source.path, advice=advice)
    instructions = trace.instructions.filter(is_selected)
    states = tables.get("states", trace.states)
    states = states.filter(states["wave"].is_in(waves["wave"].implode()))
    tables |= {"waves": _indexed(waves, instructions, states), "instructions": instructions, "states": states}
    engines = waves["se"].unique().implode()
    if selection.shader_engines:
        tables |= {name: trace.table(name).filter(pl.col("se").is_in(engines)) for name in _ENGINE_TABLES}
    lazy: dict[str, Callable[[], pl.DataFrame]] = {}
    lazy |= {name: partial(trace.table, name) for name in trace.lazy_tables if name not in tables}
    lazy |= {"losses": partial(trace.table, "losses"), "waits": lambda: _waits_of(trace, is_selected)}
    return ThreadTrace(tables, trace.source, lazy, part_of=(trace, is_selected))


def whole_of(trace: ThreadTrace) -> tuple[ThreadTrace, pl.Series | None]:
    """The trace from which a selection was made, and its selected instructions (Boolean); None = all.

    Selections of selections lead to the trace that is none.
    """
    whole, is_selected = trace, None
    while whole.part_of is not None:
        whole, outer = whole.part_of
        if is_selected is None:
            is_selected = outer
        else:
            places = outer.arg_true().filter(is_selected)
            is_selected = pl.zeros(outer.len(), dtype=pl.UInt8, eager=True).scatter(places, 1).cast(pl.Boolean)
    return whole, is_selected


def check_whole_waves(trace: ThreadTrace) -> None:
    """Refuse a selection of time. Raises `UsageError`: it has only a part of the instructions of its waves."""
    whole, is_selected = whole_of(trace)
    if is_selected is None:
        return
    if whole.instructions["wave"].is_in(trace.waves["wave"].implode()).sum() != trace.instructions.height:
        what = "lane addresses follow from the start of a wave, and this is a part of its time"
        raise UsageError(what, where=trace.source.path, advice="leave out --time; --wave chooses waves")


def at_rows(frame: pl.DataFrame, rows: pl.Series | None) -> pl.DataFrame:
    """The rows of a frame that are about one of these code rows (column `row`); None = all of them."""
    return frame if rows is None else frame.filter(pl.col("row").is_in(rows.implode()))


def selected_rows(trace: ThreadTrace, selection: Selection) -> pl.Series | None:
    """Numbers of the code rows whose inline chain mentions the chosen file and line; None = all rows.

    Raises `UsageError` when no row is left.
    """
    if not selection.chooses_rows:
        return None
    frames = (
        trace.code.lazy()
        .select("row", place=pl.col("inline_chain").str.split(" -> "))
        .explode("place", empty_as_null=False, keep_nulls=False)
        .select("row", file=pl.col("place").str.replace(r":[^:]*$", ""), line=pl.col("place").str.extract(r":(\d+)$"))
        .with_columns(pl.col("line").cast(pl.UInt32))
    )
    if selection.file is not None:
        name = selection.file
        frames = frames.filter((pl.col("file") == name) | pl.col("file").str.ends_with("/" + name.lstrip("/")))
    if selection.first_line is not None:
        last = selection.last_line if selection.last_line is not None else selection.first_line
        frames = frames.filter(pl.col("line").is_between(selection.first_line, last))
    rows = frames.select(pl.col("row").unique().sort()).collect().to_series()
    if not rows.len():
        files = trace.code["file"].drop_nulls().unique().sort().to_list()
        advice = f"files: {', '.join(files[:8])}{', ...' if len(files) > 8 else ''}" if files else "no debug lines here"
        raise UsageError("no instruction comes from this file and line", where=trace.source.path, advice=advice)
    return rows


def wave_filter(trace: ThreadTrace, selection: Selection) -> pl.Expr:
    """True for the waves that a selection leaves, apart from their time; for frames with the columns that it names."""
    keep = pl.lit(value=True)
    columns = {"se": selection.shader_engines, "simd": selection.simds, "wave": selection.waves}
    for column, numbers in columns.items():
        if numbers:
            keep &= pl.col(column).is_in(list(numbers))
    if selection.kernel:
        names = pl.col("name", "demangled").str.contains(selection.kernel, literal=True)
        keep &= pl.col("kernel").is_in(trace.kernels.filter(pl.any_horizontal(names))["kernel"].implode())
    return keep


def _cut_to_time(
    trace: ThreadTrace, waves: pl.DataFrame, selection: Selection
) -> tuple[pl.DataFrame, pl.DataFrame, pl.Series]:
    """Waves that overlap the time with their ends moved, their states, and which instructions of all start in it.

    Instructions of other waves are left out before anything is computed of them: a short time of a long trace is cheap.
    """
    start, end = (time - engine_offsets(trace) for time in selection.window)  # on the clock of each engine
    windows = waves.select("wave", window_start=start, window_end=end)
    near = waves.join(windows, on="wave", how="left", maintain_order="left").filter(
        pl.col("end_cycles") > pl.col("window_start"), pl.col("start_cycles") < pl.col("window_end")
    )
    places = trace.instructions["wave"].is_in(near["wave"].implode()).arg_true()
    executed_rows = trace.instructions.select("wave", "time_cycles", "duration_cycles", "row", "category")[places]
    times = executed_rows.select("wave", attempt_cycles()).join(windows, on="wave", how="left", maintain_order="left")
    is_started = times.select(pl.col("time_cycles") >= pl.col("window_start")).to_series()
    is_past_end = times.select(pl.col("time_cycles") >= pl.col("window_end")).to_series()
    is_selected = pl.zeros(trace.instructions.height, dtype=pl.UInt8, eager=True)
    is_selected = is_selected.scatter(places.filter(is_started & ~is_past_end), 1).cast(pl.Boolean)
    return *_cut(near, trace.states, executed_rows.filter(~is_started)), is_selected


def _cut(waves: pl.DataFrame, states: pl.DataFrame, before: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Waves with their ends moved into their windows [start, end), and the states that remain of them."""
    finish = pl.col("time_cycles") + pl.col("duration_cycles")
    earlier = before.group_by("wave").agg(earlier_end=finish.max())
    cut = waves.join(earlier, on="wave", how="left", maintain_order="left")
    cut = cut.with_columns(start_cycles=pl.max_horizontal("start_cycles", "earlier_end")).drop("earlier_end")
    length = pl.col("duration_cycles").cast(pl.Int64)
    intervals = (
        states.join(waves.select("wave", start="start_cycles"), on="wave", maintain_order="left")
        .with_columns(finish=pl.col("start") + length.cum_sum().over("wave"))
        .with_columns(start=pl.col("finish") - length)
        .join(cut.select("wave", "start_cycles", "window_end"), on="wave", maintain_order="left")
    )
    cut_start = pl.max_horizontal("start", "start_cycles")
    cut_end = pl.min_horizontal("finish", "window_end")
    states = intervals.with_columns(duration_cycles=(cut_end - cut_start).clip(lower_bound=0).cast(pl.Int32))
    states = states.filter(pl.col("duration_cycles") > 0).select("wave", "state", "duration_cycles")
    ends = pl.min_horizontal("end_cycles", "window_end")
    return cut.with_columns(end_cycles=ends).drop("window_start", "window_end"), states


def rows_of_waves(frame: pl.DataFrame, first: str, count: str) -> pl.DataFrame:
    """For every `wave` of a table whose rows of a wave follow each other: its `first` row, and their `count`."""
    places = frame.select("wave").with_row_index("place").group_by("wave")
    return places.agg(pl.col("place").min().cast(pl.UInt64).alias(first), pl.len().cast(pl.UInt32).alias(count))


def _indexed(waves: pl.DataFrame, instructions: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """The waves with the places of their rows in the new tables, which keep the order of the old ones."""
    for frame, name in ((instructions, "instruction"), (states, "state")):
        first, count = f"first_{name}", f"{name}_count"
        positions = rows_of_waves(frame, first, count)
        filled = waves.drop(first, count).join(positions, on="wave", how="left", maintain_order="left")
        waves = filled.with_columns(pl.col(first, count).fill_null(0)).select(waves.columns)
    return waves


def _waits_of(trace: ThreadTrace, is_selected: pl.Series) -> pl.DataFrame:
    """The selected waits of the whole trace; a producer that is not selected loses its position, but not its row."""
    place = is_selected.cast(pl.UInt64).cum_sum() - 1
    waits = trace.waits.filter(is_selected.gather(trace.waits["instruction"]))
    has_producer = is_selected.gather(waits["producer"])
    return waits.with_columns(
        instruction=place.gather(waits["instruction"]),
        producer=pl.when(has_producer).then(place.gather(waits["producer"])),
    )


def traced_waves(part: ThreadTrace) -> pl.DataFrame:
    """Waves with instructions, with the places of these in `instructions`, also where the table does not have them."""
    waves = part.waves
    if waves["instruction_count"].null_count():
        counts = rows_of_waves(part.instructions, "first_instruction", "instruction_count")
        waves = waves.drop("first_instruction", "instruction_count")
        waves = waves.join(counts, on="wave", how="left", maintain_order="left")
    return waves.filter(pl.col("instruction_count").fill_null(0) > 0)


_NAMES_SHOWN = 6  #: Kernels that an error names at most.


def select_samples(trace: ThreadTrace, kernel: str) -> ThreadTrace:
    """Return the trace with only the samples of kernels with `kernel` in their name, mangled or not.

    Raises `UsageError` when nothing is left.
    """
    kernels = trace.kernels.select("name", "demangled").unique("name", keep="first")
    is_named = pl.any_horizontal(pl.col("name", "demangled").str.contains(kernel, literal=True).fill_null(value=False))
    named_functions = trace.code.select("row", name="function").join(kernels, on="name", how="left").filter(is_named)
    samples, reasons = (
        table.join(named_functions, on="row", how="semi") for table in (trace.samples, trace.sample_reasons)
    )
    if not samples.height:
        names = trace.kernels["demangled"].head(_NAMES_SHOWN).to_list()
        advice = f"kernels: {', '.join(names)}" if names else "the samples do not record their kernels"
        raise UsageError(f"no sample of a kernel with {kernel!r} in its name", where=trace.source.path, advice=advice)
    names_of_functions = named_functions["name"].unique().implode()
    dispatches = trace.sampled_dispatches.filter(pl.col("kernel_name").is_in(names_of_functions))
    tables = {name: trace.table(name) for name in ("code", "kernels", "shader_engines", "losses", "sources")}
    tables |= {"samples": samples, "sample_reasons": reasons, "sampled_dispatches": dispatches}
    return ThreadTrace(tables, trace.source)
