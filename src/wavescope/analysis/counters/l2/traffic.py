"""What do the L2 counters of one run say? Formulas, and where they may be evaluated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wavescope.model.counters import CounterSet

Sums = dict[str, float]


@dataclass(frozen=True)
class Formula:
    """One way to compute a metric from sums of counters over dispatches."""

    metric: str
    needs: tuple[str, ...]
    value: Callable[[Sums], float | None]
    text: str
    is_lower_bound: bool = False  #: Whether requests may be larger than the formula can see.
    targets: str = ""  #: Begin of the names of the GPUs that it holds for; empty = all that have the counters.


@dataclass(frozen=True)
class Measurement:
    """One metric of one kernel in one run."""

    run: int
    kernel_name: str
    metric: str
    value: float  #: Of a ratio, the ratio of sums; of an amount, the mean per dispatch.
    dispatch_count: int
    duration_ns_mean: float | None  #: Of these dispatches; None = no usable timestamps.
    formula: str
    same_pass: bool  #: Whether all counters come from the same pass over the dispatches.
    is_lower_bound: bool = False
    file: str = ""  #: Of the pass, or of the first of several passes.


def _ratio(part: str, *whole: str) -> Callable[[Sums], float | None]:
    def value(sums: Sums) -> float | None:
        total = sum(sums[name] for name in whole)
        return sums[part] / total if total > 0 else None

    return value


def _weighted(**weights: float) -> Callable[[Sums], float | None]:
    return lambda sums: sum(weight * sums[name] for name, weight in weights.items())


_R, _W = "TCC_EA0_RDREQ", "TCC_EA0_WRREQ"
_GR, _GW = "GL2C_EA_RDREQ", "GL2C_EA_WRREQ"

#: In the order in which they are preferred, per metric; those of ROCm Compute Profiler, panel 17, and on gfx12, which
#: does not count sizes, what public measurements of an RX 9070 XT give.
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
    Formula("read_bytes", (_GR,), _weighted(**{_GR: 256}), "256·EA_RDREQ", targets="gfx12"),
    Formula("write_bytes", (_GW,), _weighted(**{_GW: 256}), "256·EA_WRREQ", targets="gfx12"),
)

_NEEDED = sorted({name for formula in FORMULAS for name in formula.needs})
_RATIOS = ("hit_rate", "read_32b_share")
#: Reads of 128 bytes, on gfx94x only: where it is 0 although there were reads, it does not exist.
_BUBBLE = "TCC_BUBBLE"


def measure(captures: Sequence[CounterSet]) -> list[Measurement]:
    """Every metric of every kernel in every capture that measured it; each capture is a run.

    A metric is computed from dispatches that have all counters of its formula in the same pass; where no pass has them,
    from the passes of the same run joined by dispatch. Counters of different runs are never combined.

    Examples
    --------
    >>> measure([])
    []
    """
    found: list[Measurement] = []
    for run, counters in enumerate(captures):
        passes = _passes(counters)
        files = dict(counters.passes.select("pass", "file").iter_rows())
        is_joined = dict(counters.passes.select("pass", "is_joined").iter_rows())
        for kernel in counters.dispatches["kernel_name"].unique(maintain_order=True):
            mine = {
                number: part
                for number, frame in passes.items()
                if (part := frame.filter(frame["kernel_name"] == kernel)).height
            }
            for formula, number, rows in _measured(mine, counters.system.target or ""):
                made = _measurement(formula, rows, run=run, kernel=kernel)
                if made is not None:
                    same_pass = number is not None and not is_joined[number]
                    file = files[number if number is not None else min(mine)]
                    found.append(replace(made, same_pass=same_pass, file=file))
    return found


def _measured(passes: dict[int, pl.DataFrame], target: str) -> Iterator[tuple[Formula, int | None, pl.DataFrame]]:
    """Of each metric the best formula that can be evaluated: in each pass that has it, else over all passes joined."""
    together: pl.DataFrame | None = None
    done: set[str] = set()
    for formula in FORMULAS:
        if formula.metric in done or not target.startswith(formula.targets):
            continue
        needs = set(formula.needs)
        whole = {
            number: rows
            for number, frame in passes.items()
            if needs <= set(frame.columns) and (rows := frame.drop_nulls(formula.needs)).height
        }
        if not whole and len(passes) > 1:
            together = _joined(passes) if together is None else together
            rows = together.drop_nulls(formula.needs) if needs <= set(together.columns) else together.clear()
            if rows.height:
                done.add(formula.metric)
                yield formula, None, rows
        for number, rows in whole.items():
            done.add(formula.metric)
            yield formula, number, rows


def _measurement(formula: Formula, rows: pl.DataFrame, *, run: int, kernel: str) -> Measurement | None:
    sums = {name: float(rows[name].sum()) for name in formula.needs}
    value = formula.value(sums)
    if value is None:
        return None
    count = rows.height
    mean = rows["duration_ns"].mean()
    duration = mean if isinstance(mean, float) and rows["duration_ns"].null_count() == 0 else None
    amount = value if formula.metric in _RATIOS else value / count
    return Measurement(
        run,
        kernel,
        formula.metric,
        amount,
        count,
        duration,
        formula.text,
        same_pass=False,
        is_lower_bound=formula.is_lower_bound,
    )


def _passes(counters: CounterSet) -> dict[int, pl.DataFrame]:
    """Per pass: the counters that formulas need and that were measured, kernel and duration of each dispatch."""
    about = counters.dispatches.select("dispatch", "kernel_name", duration_ns=pl.col("end_ns") - pl.col("start_ns"))
    found = {}
    for number, frame in sorted(counters.measured.items()):
        names = [name for name in _NEEDED if name in frame.columns and frame[name].null_count() < frame.height]
        if _BUBBLE in names and _R in names and frame[_R].sum() > frame[_BUBBLE].sum() == 0:
            names.remove(_BUBBLE)
        if names:
            found[number] = frame.select("dispatch", *names).join(about, on="dispatch", maintain_order="left")
    return found


def _joined(passes: dict[int, pl.DataFrame]) -> pl.DataFrame:
    """Passes over the same dispatches as one row per dispatch; of a counter that two have, the first."""
    about = ["dispatch", "kernel_name", "duration_ns"]
    whole = pl.concat([frame.select(about) for frame in passes.values()]).unique("dispatch", maintain_order=True)
    for frame in passes.values():
        new = [name for name in frame.columns if name not in whole.columns]
        whole = whole.join(frame.select("dispatch", *new), on="dispatch", how="left", maintain_order="left")
    return whole


def short_path(file: str) -> str:
    """The end of a path, enough to tell files apart.

    Examples
    --------
    >>> short_path("/data/run/pass_1/out_counter_collection.csv")
    'pass_1/out_counter_collection.csv'
    """
    return "/".join(file.split("/")[-2:])
