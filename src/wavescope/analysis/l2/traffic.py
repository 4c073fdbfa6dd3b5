"""What do the L2 counters of one run say? Formulas, and where they may be evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from wavescope.model.counter_set import CounterSet

__all__ = ["FORMULAS", "Formula", "Measurement", "measure", "short_path"]

Sums = dict[str, float]


@dataclass(frozen=True)
class Formula:
    """One way to compute a metric from sums of counters over dispatches.

    Examples
    --------
    >>> FORMULAS[0].metric, FORMULAS[0].value({"TCC_HIT": 1.0, "TCC_MISS": 3.0})
    ('hit_rate', 0.25)
    """

    metric: str
    needs: tuple[str, ...]
    value: Callable[[Sums], float | None]
    text: str
    is_lower_bound: bool = False
    """Whether requests may be larger than the formula can see."""


@dataclass(frozen=True)
class Measurement:
    """One metric of one kernel in one run.

    Examples
    --------
    >>> Measurement(0, "k", "hit_rate", 0.25, 3, 100, "HIT / (HIT + MISS)", True).value
    0.25
    """

    run: int
    kernel_name: str
    metric: str
    value: float
    """Of a ratio, the ratio of sums; of an amount, the mean per dispatch."""
    dispatch_count: int
    duration_ns_mean: float | None
    """Of these dispatches; None = no usable timestamps."""
    formula: str
    same_pass: bool
    """Whether all counters come from the same pass over the dispatches."""
    is_lower_bound: bool = False


def _ratio(part: str, *whole: str) -> Callable[[Sums], float | None]:
    def value(sums: Sums) -> float | None:
        total = sum(sums[name] for name in whole)
        return sums[part] / total if total > 0 else None

    return value


def _weighted(**weights: float) -> Callable[[Sums], float | None]:
    return lambda sums: sum(weight * sums[name] for name, weight in weights.items())


_R, _W = "TCC_EA0_RDREQ", "TCC_EA0_WRREQ"
_GR, _GW = "GL2C_EA_RDREQ", "GL2C_EA_WRREQ"

FORMULAS: tuple[Formula, ...] = (
    Formula(
        "hit_rate", ("TCC_HIT", "TCC_MISS"), _ratio("TCC_HIT", "TCC_HIT", "TCC_MISS"), "TCC_HIT / (TCC_HIT + TCC_MISS)"
    ),
    Formula(
        "hit_rate",
        ("GL2C_HIT", "GL2C_MISS"),
        _ratio("GL2C_HIT", "GL2C_HIT", "GL2C_MISS"),
        "GL2C_HIT / (GL2C_HIT + GL2C_MISS)",
    ),
    Formula("l1_read_requests", ("TCP_TCC_READ_REQ",), _weighted(TCP_TCC_READ_REQ=1), "TCP_TCC_READ_REQ"),
    Formula("read_32b_share", (_R, f"{_R}_32B"), _ratio(f"{_R}_32B", _R), "EA0_RDREQ_32B / EA0_RDREQ"),
    Formula(
        "read_32b_share",
        (_GR, f"{_GR}_32B", f"{_GR}_64B", f"{_GR}_128B"),
        _ratio(f"{_GR}_32B", _GR),
        "EA_RDREQ_32B / EA_RDREQ",
    ),
    Formula(
        "read_bytes",
        (_R, f"{_R}_32B", f"{_R}_64B", f"{_R}_128B"),
        _weighted(**{f"{_R}_32B": 32, f"{_R}_64B": 64, f"{_R}_128B": 128}),
        "32·RDREQ_32B + 64·RDREQ_64B + 128·RDREQ_128B",
    ),
    Formula(
        "read_bytes",
        (_GR, f"{_GR}_32B", f"{_GR}_64B", f"{_GR}_128B"),
        _weighted(**{f"{_GR}_32B": 32, f"{_GR}_64B": 64, f"{_GR}_128B": 128}),
        "32·RDREQ_32B + 64·RDREQ_64B + 128·RDREQ_128B",
    ),
    Formula(
        "read_bytes",
        (_R, f"{_R}_32B", "TCC_BUBBLE"),
        _weighted(**{_R: 64, f"{_R}_32B": -32, "TCC_BUBBLE": 64}),
        "64·RDREQ - 32·RDREQ_32B + 64·BUBBLE (reads of 128 bytes)",
    ),
    Formula("read_bytes", ("FETCH_SIZE",), _weighted(FETCH_SIZE=1024), "1024·FETCH_SIZE"),
    Formula(
        "read_bytes",
        (_R, f"{_R}_32B"),
        _weighted(**{_R: 64, f"{_R}_32B": -32}),
        "64·RDREQ - 32·RDREQ_32B",
        is_lower_bound=True,
    ),
    Formula("write_bytes", (_W, f"{_W}_64B"), _weighted(**{_W: 32, f"{_W}_64B": 32}), "32·WRREQ + 32·WRREQ_64B"),
    Formula("write_bytes", (_GW, f"{_GW}_64B"), _weighted(**{_GW: 32, f"{_GW}_64B": 32}), "32·WRREQ + 32·WRREQ_64B"),
    Formula("write_bytes", ("WRITE_SIZE",), _weighted(WRITE_SIZE=1024), "1024·WRITE_SIZE"),
)
"""In the order in which they are preferred, per metric; those of ROCm Compute Profiler, panel 17."""

# What is 0 in a whole run although the requests themselves were counted does not exist on that GPU, or did not count.
_DETAILS = (
    (_R, (f"{_R}_64B", f"{_R}_128B")),
    (_R, ("TCC_BUBBLE",)),  # on gfx94x only
    (_GR, (f"{_GR}_32B", f"{_GR}_64B", f"{_GR}_128B")),
    (_GW, (f"{_GW}_64B",)),
)
_NEEDED = sorted({name for formula in FORMULAS for name in formula.needs})
_RATIOS = ("hit_rate", "read_32b_share")


def measure(counters: CounterSet) -> tuple[list[Measurement], list[str]]:
    """Every metric of every kernel in every run that measured it, and words about what the hardware did not count.

    A metric is computed from dispatches that have all counters of its formula in the same pass; where no pass has them,
    from the passes of the same run joined by dispatch. Counters of different runs are never combined.

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> measure(CounterSet({}))
    ([], [])
    """
    by_pass = _by_pass(counters)
    found: list[Measurement] = []
    silent: list[str] = []
    for row in counters.runs.iter_rows(named=True):
        mine = by_pass.filter(by_pass["run"] == row["run"])
        dead = _uncounted(mine)
        if dead:
            silent.append(f"{short_path(row['file'])}: {_why(mine, dead)}: {', '.join(dead)}")
            mine = mine.drop(dead)
        for (kernel,), part in mine.partition_by("kernel_name", as_dict=True, maintain_order=True).items():
            found += _of_kernel(row["run"], kernel, part, is_joined=row["is_joined"])
    return found, silent


def _of_kernel(run: int, kernel: str, passes: pl.DataFrame, *, is_joined: bool) -> Iterator[Measurement]:
    joined = None
    done: set[str] = set()
    for formula in FORMULAS:
        if formula.metric in done or not set(formula.needs) <= set(passes.columns):
            continue
        rows, same_pass = passes.drop_nulls(formula.needs), not is_joined
        if not rows.height:
            joined = _by_dispatch(passes) if joined is None else joined
            rows, same_pass = joined.drop_nulls(formula.needs), False
        if not rows.height:
            continue
        sums = {name: float(rows[name].sum()) for name in formula.needs}
        value = formula.value(sums)
        if value is None:
            continue
        done.add(formula.metric)
        count = rows.height
        amount = value if formula.metric in _RATIOS else value / count
        mean = rows["duration_ns"].mean()
        usable = isinstance(mean, float) and rows["duration_ns"].null_count() == 0
        duration = mean if usable and isinstance(mean, float) else None
        yield Measurement(
            run, kernel, formula.metric, amount, count, duration, formula.text, same_pass, formula.is_lower_bound
        )


def _uncounted(rows: pl.DataFrame) -> list[str]:
    """Counters of a run that are 0 in all dispatches where that cannot be true.

    All of them, if none counted: their clock was off. Else sizes of requests, if only the requests counted.
    """
    names = _collected(rows)
    alive = {name for name in names if (rows[name].drop_nulls() != 0).any()}
    if not alive:
        return names
    dead = [
        name
        for requests, details in _DETAILS
        if requests in alive and not alive.intersection(details)
        for name in details
        if name in names
    ]
    return dead + [name for name in ("FETCH_SIZE", "WRITE_SIZE") if name in names and name not in alive]


def _collected(rows: pl.DataFrame) -> list[str]:
    """Counters that this run has; its columns are those of all runs."""
    return [name for name in _NEEDED if name in rows.columns and rows[name].null_count() < rows.height]


def _why(rows: pl.DataFrame, dead: list[str]) -> str:
    if set(_collected(rows)) - set(dead):
        return "0 in every dispatch although requests were counted, so not measured"
    return "0 in every dispatch, so not measured (was their clock off? fix the performance level of the GPU)"


def short_path(file: str) -> str:
    """The end of a path, enough to tell files apart.

    Examples
    --------
    >>> short_path("/data/run/pass_1/out_counter_collection.csv")
    'pass_1/out_counter_collection.csv'
    """
    return "/".join(file.split("/")[-2:])


def _by_pass(counters: CounterSet) -> pl.DataFrame:
    """One row per dispatch and pass, one column per needed counter under one spelling, and the duration."""
    import polars as pl

    spelled = pl.col("counter").str.replace(r"_sum$", "").str.replace(r"^TCC_EA_", "TCC_EA0_")
    values = (
        counters.values.lazy()
        .filter(pl.col("channel").is_null())
        .with_columns(name=spelled)
        .filter(pl.col("name").is_in(_NEEDED))
        .group_by("dispatch", "name", maintain_order=True)
        .agg(pl.col("value").first())
        .collect()
        .pivot(on="name", index="dispatch", values="value")
    )
    length = pl.col("end_ns") - pl.col("begin_ns")
    dispatches = counters.dispatches.with_columns(duration_ns=pl.when(length > 0).then(length))
    return dispatches.join(values, on="dispatch", how="inner", maintain_order="left")


def _by_dispatch(passes: pl.DataFrame) -> pl.DataFrame:
    """Passes over the same dispatch of one run as one row."""
    import polars as pl

    key = ("process_id", "agent", "dispatch_id")
    names = [name for name in _NEEDED if name in passes.columns]
    return passes.group_by(key, maintain_order=True).agg(
        *(pl.col(name).drop_nulls().first() for name in names), pl.col("duration_ns").median()
    )
