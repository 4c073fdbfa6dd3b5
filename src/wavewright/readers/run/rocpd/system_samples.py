"""Samples of rocprof-sys (ROCm Systems Profiler), by the rules of its writer; no real file was seen.

AMD-SMI values (power, temperature, memory, busy share), values of the process (CPU frequency, page faults, context
switches, memory) and cumulative bytes of MPI and RCCL: one event per poll, one `pmc_event` and one `sample` per
quantity. All samples of a poll share its event, so the quantity is that of the counter and of the track of the same
name, never that of the event alone. They become `monitors`: a value holds until the next one.

Call stacks of CPU threads: every frame is a region and a sample on the track `timer_sampling_<tid>` or
`overflow_sampling_<tid>`, outermost first. They become one sample per moment, with frames.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from wavewright.readers.run.rocpd.columns import RunColumns

#: Categories of events, and the start of the names of tracks, of call stacks.
_STACKS = "^(timer|overflow)_sampling"
_POLLS = "^(amd_smi|device_|process_|cpu_freq|comm_data|thread_(cpu|wall|page|peak|context|hardware))"
_KEYS = ["process", "agent", "name"]


class SystemSamples:
    """The sampled values and call stacks of one run of a ROCpd file; empty where other tools wrote it."""

    def __init__(self, columns: RunColumns) -> None:
        self._columns = columns
        self._run = columns.run

    @cached_property
    def _texts(self) -> pl.DataFrame:
        return self._run.frame("string", {"id": pl.Int64, "string": pl.String}).unique("id", keep="first")

    @cached_property
    def _events(self) -> pl.DataFrame:
        """Events of polls and of call stacks: `event_id` and `category`."""
        names = self._texts.filter(pl.col("string").str.contains(f"{_STACKS}$|{_POLLS}").fill_null(value=False))
        if not names.height or not self._run.has("sample", "track_id"):
            return pl.DataFrame(schema={"event_id": pl.Int64, "category": pl.String})
        needs = {"id": pl.Int64, "category_id": pl.Int64}
        is_sampled = pl.col("category_id").is_in(names["id"].implode())
        pieces = (piece.filter(is_sampled) for piece in self._run.chunks("event", needs))
        rows = pl.concat([pl.DataFrame(schema=needs), *pieces])
        categories = names.rename({"id": "category_id", "string": "category"})
        return rows.join(categories, on="category_id").select(pl.col("id").alias("event_id"), "category")

    @cached_property
    def _samples(self) -> pl.DataFrame:
        """Samples of these events with the name of their track."""
        needs = dict.fromkeys(("id", "track_id", "timestamp", "event_id"), pl.Int64)
        events = self._events
        if not events.height:
            return pl.DataFrame(schema={**needs, "category": pl.String, "name": pl.String})
        pieces = (piece.join(events, on="event_id") for piece in self._run.chunks("sample", needs))
        tracks = self._run.frame("track", {"id": pl.Int64, "name_id": pl.Int64}).unique("id", keep="first")
        track_names = tracks.join(self._texts.rename({"id": "name_id", "string": "name"}), on="name_id", how="left")
        rows = pl.concat([pl.DataFrame(schema={**needs, "category": pl.String}), *pieces])
        return rows.join(track_names.rename({"id": "track_id"}).drop("name_id"), on="track_id", how="left").sort("id")

    @property
    def _is_stack(self) -> pl.Expr:
        name, category = pl.col("name").fill_null(""), pl.col("category").fill_null("")
        return name.str.contains(_STACKS) | category.str.contains(_STACKS)

    @cached_property
    def _values(self) -> pl.DataFrame:
        """Polled values: `event_id`, `pmc_id`, `name`, `value`."""
        needs = {"event_id": pl.Int64, "pmc_id": pl.Int64, "value": pl.Float64}
        polls = self._samples.filter(~self._is_stack).select("event_id").unique()
        empty = pl.DataFrame(schema={**needs, "name": pl.String})
        if not polls.height:
            return empty
        pieces = [piece.join(polls, on="event_id", how="semi") for piece in self._run.chunks("pmc_event", needs)]
        info = self._run.frame("info_pmc", {"id": pl.Int64, "name": pl.String}).unique("id", keep="first")
        return pl.concat([empty.drop("name"), *pieces]).join(info.rename({"id": "pmc_id"}), on="pmc_id", how="left")

    @cached_property
    def polled_events(self) -> pl.Series:
        """Events whose samples and counters are monitors."""
        return self._values["event_id"].unique()

    @cached_property
    def stack_events(self) -> pl.Series:
        """Events whose regions are frames of call stacks."""
        return self._samples.filter(self._is_stack)["event_id"].unique()

    @cached_property
    def _repeated(self) -> pl.Series:
        """Samples of call stacks beyond the first of their moment."""
        stacks = self._samples.filter(self._is_stack)
        return stacks.filter(~pl.struct("track_id", "timestamp").is_first_distinct())["id"]

    def mask_of(self, table: str, piece: pl.DataFrame) -> pl.Series | None:
        """Mask of the rows of a chunk that belong to this table; None = all."""
        if not self._events.height:
            return None
        if table == "regions":
            return ~piece["event_id"].is_in(self.stack_events.implode()).fill_null(value=False)
        if table == "counters":
            return ~piece["event_id"].is_in(self.polled_events.implode()).fill_null(value=False)
        if table == "samples":
            is_poll = piece["event_id"].is_in(self.polled_events.implode()).fill_null(value=False)
            return ~is_poll & ~piece["id"].is_in(self._repeated.implode()).fill_null(value=False)
        return None

    def monitors(self) -> pl.DataFrame:
        """Rows of `monitors`: from each value to the next one of its quantity; the last has no length."""
        values = self._values.with_row_index("row")
        if not values.height:
            return pl.DataFrame()
        samples = self._samples.filter(~self._is_stack).select("event_id", "name", "timestamp")
        of_quantity = samples.unique(["event_id", "name"], keep="first", maintain_order=True)
        of_event = samples.unique("event_id", keep="first", maintain_order=True).select("event_id", other="timestamp")
        with_times = values.join(of_quantity, on=["event_id", "name"], how="left")
        with_times = with_times.join(of_event, on="event_id", how="left")  # where no track has the name of the counter
        with_times = with_times.with_columns(start_ns=pl.coalesce("timestamp", "other")).drop_nulls("start_ns")
        counter_places = self._run.frame("info_pmc", {"id": pl.Int64, "pid": pl.Int64, "agent_id": pl.Int64})
        counter_places = counter_places.unique("id", keep="first").rename({"id": "pmc_id"})
        with_times = with_times.join(counter_places, on="pmc_id", how="left").sort("row")
        process = self._columns.numbers("info_process", with_times["pid"])
        agent = self._columns.numbers("info_agent", with_times["agent_id"])
        rows = with_times.with_columns(process=process, agent=agent).sort("start_ns", maintain_order=True)
        next_ns = pl.col("start_ns").shift(-1).over(_KEYS)
        end_ns = pl.max_horizontal("start_ns", pl.coalesce(next_ns, "start_ns"))
        return rows.select(*_KEYS, "start_ns", end_ns.alias("end_ns"), "value")

    def frames(self) -> pl.DataFrame:
        """Rows of `frames`: those of one moment belong to the event of its first sample; depth 0 is stored last."""
        stacks = self._samples.filter(self._is_stack)
        if not stacks.height:
            return pl.DataFrame()
        needs = {"event_id": pl.Int64, "name_id": pl.Int64, "pid": pl.Int64}
        is_frame = pl.col("event_id").is_in(self.stack_events.implode())
        pieces = (piece.filter(is_frame) for piece in self._run.chunks("region", needs))
        regions = pl.concat([pl.DataFrame(schema=needs), *pieces]).unique("event_id", keep="first")
        with_names = regions.join(self._texts.rename({"id": "name_id", "string": "frame"}), on="name_id", how="left")
        rows = stacks.join(with_names, on="event_id", how="left").sort("id")
        moment = ["track_id", "timestamp"]
        return rows.select(
            self._columns.numbers("info_process", rows["pid"]).alias("process"),
            event=pl.col("event_id").first().over(moment),
            depth=(pl.len().over(moment) - 1 - pl.int_range(pl.len()).over(moment)).cast(pl.Int64),
            name="frame",
        )
