"""Do slow calls of a kernel coincide with a lower clock, more power or a higher temperature? From samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.measures.intervals import intervals, merged
from wavewright.analysis.run.select.identities import processes_of
from wavewright.model.answer import Answer
from wavewright.model.run import Run

LEAST_SAMPLES = 20  #: Fewer samples while a GPU is busy, or fewer calls of a kernel, tell nothing.
SLOW = 1.25  #: A call is slow from this multiple of the median of its kernel on.
SLOWED = 0.9  #: A mean clock below this share of the highest means that the GPU was slowed down.
_LEAST_SLOW = 3  #: Slow calls, and samples that they fall on.
_LEAST_DIFFERENCE = 0.03
_ERRORS = 2.0  #: Differences within so many standard errors are none.
_QUANTITIES = {
    "clock": "(?i)sclk|gfx_?cl(oc)?k|clock|freq",
    "power": "(?i)power",
    "temperature": "(?i)temp|junction|hotspot",
}
_KEYS = ("host", "pid", "rank", "run", "gpu", "quantity", "monitor")
_CALLS = {"agent": pl.UInt32, "name": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}


@dataclass(frozen=True)
class SlowDispatches(Answer, package=__package__):
    """Samples of clock, power and temperature joined to slow calls of kernels."""

    gpus: pl.DataFrame
    kernels: pl.DataFrame

    @property
    def slowed_gpus(self) -> pl.DataFrame:
        """Rows of `gpus`: clocks whose mean while busy is below 90 % of the highest."""
        is_slowed = (pl.col("mean_share") < SLOWED) & pl.col("is_enough") & (pl.col("quantity") == "clock")
        return self.gpus.filter(is_slowed)


@dataclass(frozen=True)
class PartialSlowDispatches:
    """The contribution of one run."""

    gpus: pl.DataFrame
    kernels: pl.DataFrame


def partial_slow_dispatches(run: Run) -> PartialSlowDispatches:
    """The contribution of one run; empty where nothing was sampled."""
    samples = _samples(run)
    calls = _calls(run, samples["agent"].unique())
    busy = merged(intervals(calls.select("agent", "start_ns", "end_ns"), ["agent"]), ["agent"])
    weighted = _weighted(samples, busy)
    where = _places(run)
    gpus = _gpus(weighted)
    enough = gpus.filter("is_enough").select("agent", "quantity", "monitor")
    kernels = _kernels(calls, samples.join(enough, on=["agent", "quantity", "monitor"], how="semi"))
    return PartialSlowDispatches(*(
        frame.join(where, on="agent").select(pl.col(name).cast(dtype) for name, dtype in spec.dtypes.items())
        for frame, spec in zip((gpus, kernels), SlowDispatches.tables.values(), strict=True)
    ))  # fmt: skip


def combine_slow_dispatches(partials: Sequence[PartialSlowDispatches]) -> SlowDispatches:
    """The combined result of all runs: processes and GPUs stay apart, because clocks and medians are their own."""
    frames = [
        pl.concat([pl.DataFrame(schema=spec.dtypes), *(getattr(part, name) for part in partials)])
        for name, spec in SlowDispatches.tables.items()
    ]
    return SlowDispatches(
        frames[0].sort(*_KEYS, nulls_last=True),
        frames[1].sort(-pl.col("excess_ns"), *_KEYS, "name", nulls_last=True),
    )


def slow_dispatches(run: Run) -> SlowDispatches:
    """Coincidence of slow calls of kernels with lower clocks, more power or higher temperatures."""
    return combine_slow_dispatches([partial_slow_dispatches(part) for part in run.parts])


def _places(run: Run) -> pl.DataFrame:
    agents = run.read("agents", ["agent", "process", "kind", "type_index", "absolute_index"])
    named = agents.filter(pl.col("kind") == "GPU").join(processes_of(run), on="process", how="left")
    return named.select("agent", "host", "pid", "rank", "run", gpu=pl.coalesce("type_index", "absolute_index"))


def _samples(run: Run) -> pl.DataFrame:
    """Samples of GPUs whose quantity is known by its name: `sample` numbers them."""
    rows = run.read("monitors", ["agent", "name", "start_ns", "end_ns", "value"]).rename({"name": "monitor"})
    monitor, quantity = pl.col("monitor").cast(pl.String), pl.lit(None, pl.String)
    for name, pattern in reversed(_QUANTITIES.items()):
        quantity = pl.when(monitor.str.contains(pattern)).then(pl.lit(name)).otherwise(quantity)
    gpus = _places(run).select("agent")
    is_sound = (pl.col("end_ns") > pl.col("start_ns")) & pl.col("value").is_finite() & (pl.col("value") > 0)
    sound = rows.filter(is_sound.fill_null(value=False)).with_columns(monitor=monitor, quantity=quantity)
    return sound.drop_nulls("quantity").join(gpus, on="agent", how="semi").sort("start_ns").with_row_index("sample")


def _calls(run: Run, agents: pl.Series) -> pl.DataFrame:
    is_sampled = pl.col("agent").is_in(agents.implode())
    is_sound = (pl.col("end_ns") > pl.col("start_ns")) & (pl.col("start_ns") >= 0)
    name = pl.col("name").cast(pl.String)
    pieces = [
        piece.filter(is_sampled & is_sound.fill_null(value=False)).with_columns(name)
        for piece in run.chunks("dispatches", list(_CALLS))
    ]
    return pl.concat([pl.DataFrame(schema=_CALLS), *pieces])


def _weighted(samples: pl.DataFrame, busy: pl.DataFrame) -> pl.DataFrame:
    """The samples with the time (`busy_ns`) for which the GPU was busy while they held."""
    ordered = busy.sort("agent", "start_ns").with_columns(
        before_ns=(pl.col("end_ns") - pl.col("start_ns")).cum_sum().over("agent")
        - (pl.col("end_ns") - pl.col("start_ns"))
    )
    steps = ordered.select("agent", "before_ns", time_ns="start_ns", busy_end_ns="end_ns").sort("time_ns")

    def busy_until(column: str) -> pl.DataFrame:
        """Busy time of the GPU from its first kernel to a time."""
        moments = samples.select("agent", "sample", time_ns=column).sort("time_ns")
        last = moments.join_asof(steps, on="time_ns", by="agent", check_sortedness=False, coalesce=False)
        within = pl.min_horizontal("time_ns", "busy_end_ns") - pl.col("time_ns_right")
        return last.select("sample", (pl.col("before_ns") + within).fill_null(0).alias(column)).sort("sample")

    spent = busy_until("end_ns")["end_ns"] - busy_until("start_ns")["start_ns"]
    return samples.sort("sample").with_columns(spent.alias("busy_ns")).filter(pl.col("busy_ns") > 0)


def _gpus(weighted: pl.DataFrame) -> pl.DataFrame:
    value, weight = pl.col("value"), pl.col("busy_ns")
    return (
        weighted.group_by("agent", "quantity", "monitor", maintain_order=True)
        .agg(
            sample_count=pl.len(),
            sampled_ns=weight.sum(),
            mean_value=(value * weight).sum() / weight.sum(),
            lowest_value=value.min(),
            highest_value=value.max(),
        )
        .with_columns(
            mean_share=pl.col("mean_value") / pl.col("highest_value"),
            is_enough=pl.col("sample_count") >= LEAST_SAMPLES,
        )
    )


def _kernels(calls: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Kernels with enough calls, some of them slow, and what was sampled at those and at the others."""
    length = (pl.col("end_ns") - pl.col("start_ns")).alias("length_ns")
    middle = (pl.col("start_ns") + length // 2).alias("time_ns")
    of_kernel = ["agent", "name"]
    timed = calls.select("agent", "name", middle, length).sort("time_ns")
    parts = []
    for (quantity, monitor), rows in samples.group_by("quantity", "monitor", maintain_order=True):
        stretches = rows.select("agent", "sample", "value", time_ns="start_ns", until_ns="end_ns").sort("time_ns")
        joined = timed.join_asof(stretches, on="time_ns", by="agent", check_sortedness=False)
        valued = joined.filter((pl.col("time_ns") < pl.col("until_ns")).fill_null(value=False))
        median = pl.col("length_ns").median().over(of_kernel)
        marked = valued.with_columns(median_ns=median, is_slow=pl.col("length_ns") >= SLOW * median)
        # One value per sample and group: calls that share a sample are not independent.
        expected = "lower" if quantity == "clock" else "higher"
        parts.append(
            _compared(marked).with_columns(
                quantity=pl.lit(quantity), monitor=pl.lit(monitor), coincides=pl.col("relation") == expected
            )
        )
    schema = {name: dtype for name, dtype in SlowDispatches.tables["kernels"].dtypes.items() if name not in _KEYS[:5]}
    empty = pl.DataFrame(schema={"agent": pl.UInt32, **schema})
    columns = empty.columns
    return pl.concat(
        [empty, *(part.select(pl.col(name).cast(empty.schema[name]) for name in columns) for part in parts)]
    )


def _compared(marked: pl.DataFrame) -> pl.DataFrame:
    of_kernel = ["agent", "name"]
    slow, other = pl.col("is_slow"), ~pl.col("is_slow")
    excess = (pl.col("length_ns") - pl.col("median_ns")).filter(slow).sum()
    counts = marked.group_by(of_kernel, maintain_order=True).agg(
        call_count=pl.len(), median_ns=pl.col("median_ns").first(), slow_count=slow.sum(), excess_ns=excess.round()
    )
    counts = counts.filter(pl.col("call_count") >= LEAST_SAMPLES, pl.col("slow_count") > 0)
    per_sample = marked.unique([*of_kernel, "is_slow", "sample"], maintain_order=True)
    value = pl.col("value")
    sides = per_sample.group_by(of_kernel, maintain_order=True).agg(
        slow_value=value.filter(slow).mean(),
        other_value=value.filter(other).mean(),
        slow_samples=slow.sum(),
        other_samples=other.sum(),
        error=(
            value.filter(slow).var().fill_null(0) / slow.sum() + value.filter(other).var().fill_null(0) / other.sum()
        ).sqrt(),
    )
    rows = counts.join(sides, on=of_kernel, how="left", maintain_order="left")
    difference = pl.col("slow_value") - pl.col("other_value")
    is_told = (
        (pl.col("slow_count") >= _LEAST_SLOW)
        & (pl.col("slow_samples") >= _LEAST_SLOW)
        & (pl.col("other_samples") >= _LEAST_SLOW)
    )
    is_apart = (difference.abs() >= _LEAST_DIFFERENCE * pl.col("other_value")) & (
        difference.abs() >= _ERRORS * pl.col("error")
    )
    relation = (
        pl.when(~is_apart).then(pl.lit("equal")).when(difference < 0).then(pl.lit("lower")).otherwise(pl.lit("higher"))
    )
    return rows.with_columns(relation=pl.when(is_told).then(relation))
