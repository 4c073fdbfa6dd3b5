"""`CounterSet`: hardware counters per dispatch, from one or several passes over a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavewright.errors import UsageError
from wavewright.model.display import WithTables
from wavewright.model.schema import THREAD_TRACE, empty_frame, packaged_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl


#: The counter that adds up a level counter every cycle; ROCpd names it after the level: SQ_LEVEL_WAVES_ACCUM.
ACCUMULATED = "SQ_ACCUM_PREV_HIRES"
BYTES_PER_MEMORY_CLOCK = 32  #: Bytes that one memory channel moves per memory clock.
#: The tables of a `CounterSet`, by name.
COUNTER_SET = packaged_specs(__package__, "tables/counters.toml") | {"losses": THREAD_TRACE["losses"]}


@dataclass(frozen=True)
class System:
    """The GPU that was measured, per partition; None = not known. `said_by` tells where each known fact comes from."""

    target: str | None = None
    product: str | None = None
    cu_count: float | None = None
    se_count: float | None = None
    simds_per_cu: float | None = None
    wave_size: float | None = None
    waves_per_cu_max: float | None = None
    clock_mhz_max: float | None = None
    memory_clock_mhz_max: float | None = None
    memory_channel_count: float | None = None
    #: Peak, in 10^9 bytes per second: 32 bytes per channel and memory clock, or that of the product.
    memory_gb_per_second: float | None = None
    l2_channel_count: float | None = None
    lds_bank_count: float | None = None
    sqc_count: float | None = None  #: Instruction and scalar caches.
    pipe_count: float | None = None  #: Scheduler pipes.
    xcd_count: float | None = None
    #: Field -> file, or `facts of MI300X` where nothing in the capture says it.
    said_by: dict[str, str] = field(default_factory=dict, hash=False)
    #: All that the capture says about the machine, in its own words and order.
    described: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def memory_peak_gb_per_second(self) -> float | None:
        """Peak of the memory in 10^9 bytes per second, as said or from its clock and channels; None = not known."""
        clock, channels = self.memory_clock_mhz_max, self.memory_channel_count
        if self.memory_gb_per_second is not None or clock is None or channels is None:
            return self.memory_gb_per_second
        return clock / 1000 * BYTES_PER_MEMORY_CLOCK * channels


@dataclass
class CounterSet(WithTables):
    """Values of hardware counters per dispatch; passes are kept apart, because they are different executions.

    `measured[pass]` is a frame with the column `dispatch` (dispatches.dispatch, unique) and one Float64 column per
    counter, named as in `counters.column`; null = not measured. `values` is the same in one long table.

    Examples
    --------
    >>> CounterSet({}).values.columns
    ['dispatch', 'pass', 'counter', 'channel', 'value']
    """

    specs = COUNTER_SET

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    measured: dict[int, pl.DataFrame] = field(default_factory=dict)
    system: System = field(default_factory=System)
    path: str = ""  #: What was opened.
    origin_ns: int = 0  #: Clock of the GPU from which times are counted: the earliest start of all passes.
    run_times: Callable[[], Mapping[str, int]] = dict  #: Kernel -> ns in the run beside the passes; empty = none.

    def table(self, name: str) -> pl.DataFrame:
        """The table `name`; empty when there are no such rows. Raises `UsageError` for a name that no set has."""
        if name not in self.tables:
            spec = COUNTER_SET.get(name)
            if spec is None:
                raise UsageError(f"no table {name!r}", advice=f"tables: {', '.join(COUNTER_SET)}")
            self.tables[name] = empty_frame(spec)
        return self.tables[name]

    @property
    def values(self) -> pl.DataFrame:
        """One row per value: dispatch, pass, counter, channel and value. Made anew from `measured` each time."""
        import polars as pl

        schema = {"dispatch": pl.UInt32, "pass": pl.UInt32, "counter": pl.String, "channel": pl.UInt16}
        parts = [pl.DataFrame(schema=schema | {"value": pl.Float64})]
        for number, frame in sorted(self.measured.items()):
            names = self.counters.filter(pl.col("pass") == number).select("column", "counter", "channel")
            long = frame.unpivot(names["column"].to_list(), index="dispatch", variable_name="column").drop_nulls()
            long = long.join(names, on="column", maintain_order="left")
            parts.append(long.with_columns(pl.lit(number, pl.UInt32).alias("pass")).select(parts[0].columns))
        return pl.concat(parts)
