"""Comparison of runs: kernels, copies and calls that got slower or faster, came or went, beyond noise.

`partial_compare` measures one run of a side, `combine_compare` compares every side with the first; `RunComparison`
words the verdicts. Its definition (`tables.toml`) says how noise is measured and what each status means; a *thing* is
what has a domain and a name, its *unit* the run or a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum
from typing import Any, Literal

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, RUN_FALSE_ALARMS, difference_bound, t_bound
from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.compare.compared_side import (
    NORMAL_DEGREES,
    TIMES,
    PartialComparison,
    Side,
    kernel_uses,
    partial_compare,
    step_noise,
    total_noise,
)
from wavewright.analysis.run.compare.kernel_pairs import pairs_of
from wavewright.analysis.run.compare.structure import UNLINKED, other_names, structure
from wavewright.analysis.run.contents.summary import GPU_DOMAINS
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.base.words import counted, percent, side_label
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import frame_of

#: What counts as a change: the difference of the GPU time that is attributed.
CHANGES = ("slower", "faster", "renamed", "new", "gone", "more calls", "fewer calls")
#: The rest of the difference: of things whose calls are too few or differ too much, and of those within noise.
REMAINDER = ("cannot tell", "same")
FailOn = Literal["total", "kernel", "step"]

_TOO_NOISY = 0.25  #: With noise above this share of the base, a difference within it does not show equality.
_TIME_WORDS = dict(zip(TIMES, ("computation", "communication", "copies", "idle"), strict=True))
_STATUS_WORDS = {"more calls": "with more calls", "fewer calls": "with fewer calls"}
_DOMAIN_WORDS = {"KERNEL": "kernels", "COPY": "copies"}
_NAME_WIDTH, _LINE_WIDTH = 60, 120  #: Characters of the names of kernels in a verdict, and in a line of its own.
_SHOWN_SHARE = 0.01  #: Shares that move by less are not told.
_SHOWN_NS = 500  #: Shorter differences would read 0.000 ms, and are not told.
_TIMES_FROM = 10.0  #: From this share on, a change is told as a factor, not in percent.
_THING = ("domain", "name")  #: What identifies a thing.


@dataclass(frozen=True)
class Renamed:
    """A kernel of a side that was compared with one of the base under another name."""

    side: int
    base_name: str
    name: str


@dataclass(frozen=True)
class Regression:
    """A thing that got slower by more than a limit."""

    subject: str  #: In words: the side, and the kernel or what else was measured.
    change: float  #: Share of the base.
    noise: float | None  #: None = not known.

    @property
    def is_beyond_noise(self) -> bool:
        """True if it is more than noise; also where that is not known."""
        return self.noise is None or self.change > self.noise

    def sentence(self, limit: float) -> str:
        """The regression in words, for a log; `limit` is the share that it exceeds."""
        noise = "its noise is not known" if self.noise is None else f"noise ±{percent(self.noise)}"
        return f"{self.subject} {change_text(self.change)}, above the limit of {100 * limit:g} % ({noise})"


@dataclass(frozen=True)
class RunComparison(Answer, package=__package__):
    """Runs against the first of them."""

    sides: pl.DataFrame
    parts: pl.DataFrame
    things: pl.DataFrame
    step: str | None  #: Marker range that is a step; None = the unit is the run.
    repeat_count: int  #: Repeated runs of the base that the noise was measured with.
    operators: pl.DataFrame
    tree: pl.DataFrame
    kernel_pairs: pl.DataFrame
    most_gains_ns: tuple[float, ...] = ()  #: Of each side but the base: see `Structure`.
    renamed: tuple[Renamed, ...] = ()  #: Kernels that were compared although their names differ.

    def changes(self, side: int) -> pl.DataFrame:
        """The things that changed on a side."""
        return self.things.filter((pl.col("side") == side) & pl.col("status").is_in(CHANGES))

    def remainder(self, side: int) -> pl.DataFrame:
        """Kernels and copies of a side whose differences are not attributed, the largest first."""
        is_rest = pl.col("status").is_in(REMAINDER) & pl.col("domain").is_in(GPU_DOMAINS) & (pl.col("delta_ns") != 0)
        return self.things.filter((pl.col("side") == side) & is_rest)

    def may_be_renamed(self, side: int) -> bool:
        """True if one kernel is new on a side and one is gone, which may be the same under another name."""
        kernels = self.things.filter((pl.col("side") == side) & (pl.col("domain") == "KERNEL"))
        return all((kernels["status"] == status).sum() == 1 for status in ("new", "gone"))

    def is_equal(self, side: int) -> bool:
        """True if a side has the same calls with the same times as the base."""
        rows = self.things.filter(pl.col("side") == side)
        is_same = (pl.col("status") == "same") & (pl.col("delta_ns") == 0) & (pl.col("base_calls") == pl.col("calls"))
        times = self.sides.select("wall_ns", "gpu_count", *TIMES)
        return bool(rows.select(is_same.all()).item()) and times.row(0) == times.row(side)

    def verdict(self, side: int) -> str:
        """Changes on a side, in one sentence; its parts add up to the difference of the GPU time."""
        row, base = (self.sides.row(number, named=True) for number in (side, 0))
        headline = f"{row['label']} against {base['label']}:"
        if self.is_equal(side):
            return f"{headline} nothing differs"
        delta = row["gpu_ns"] - base["gpu_ns"]
        change = "" if row["change"] is None else f" ({change_text(row['change'])})"
        times = f"{_ms(base['gpu_ns'])} -> {_ms(row['gpu_ns'])} per {self._unit}, {_signed(delta)}{change}"
        parts = self.parts.filter(pl.col("side") == side).to_dicts()
        changed = [
            f"{part['thing_count']:,} {_STATUS_WORDS.get(part['status'], part['status'])} ({_signed(part['delta_ns'])})"
            for part in parts
            if part["is_attributed"]
        ]
        unattributed = [part for part in parts if not part["is_attributed"] and part["delta_ns"]]
        clauses = [", ".join(changed)] if changed else []
        clauses += [f"not attributed: {self._remainder(unattributed)}"] if unattributed else []
        return f"{headline} GPU time {times}" + (f"; {'; '.join(clauses)}" if clauses else "")

    def _remainder(self, parts: Sequence[dict[str, Any]]) -> str:
        """The parts that are not attributed in words: their sum, their number, and the largest of their things."""
        words = {"cannot tell": "with calls too few or too uneven to tell", "same": "within noise"}
        total = fsum(part["delta_ns"] for part in parts)
        where = " and ".join(f"{counted(part['thing_count'], 'things')} {words[part['status']]}" for part in parts)
        largest = max(parts, key=lambda part: abs(part["largest_delta_ns"]))
        (name,) = short_names([largest["largest_name"]], _NAME_WIDTH).values()
        if len(parts) == 1 and largest["thing_count"] == 1:
            return f"{_signed(total)} in {name}, {words[largest['status']]}"
        return f"{_signed(total)} in {where}, the largest {name} ({_signed(largest['largest_delta_ns'])})"

    def time_verdict(self, side: int) -> str | None:
        """Changes of the time of a GPU by kind, in one sentence; None = no GPU worked on both sides."""
        row, base = (self.sides.row(number, named=True) for number in (side, 0))
        if not row["gpu_count"] or not base["gpu_count"] or self.is_equal(side):
            return None
        before, after = (fsum(times[name] for name in TIMES) for times in (base, row))
        deltas = sorted(((row[name] - base[name], name) for name in TIMES), key=lambda part: -abs(part[0]))
        parts = [f"{_TIME_WORDS[name]} {_signed(delta)}" for delta, name in deltas if abs(delta) >= _SHOWN_NS]
        change = f" ({change_text(after / before - 1)})" if before else ""
        where = f": {', '.join(parts)}" if parts else ""
        times = f"time per GPU {_ms(before)} -> {_ms(after)} per {self._unit}, {_signed(after - before)}{change}{where}"
        if row["step_ns"] is None or not base["step_ns"]:
            return times
        noise = "not known" if row["step_noise"] is None else f"±{percent(row['step_noise'])}"
        step = f"a step takes {_ms(base['step_ns'])} -> {_ms(row['step_ns'])}"
        return f"{step} ({change_text(row['step_change'])}, noise {noise}); {times}"

    def share_verdict(self, side: int) -> str | None:
        """Shares of the GPU work and of the time that moved by a point or more, in one sentence; None = none did."""
        if self.is_equal(side):
            return None
        sums = self.things.filter((pl.col("side") == side) & pl.col("domain").is_in(GPU_DOMAINS))
        sums = sums.group_by("domain").agg(pl.col("base_ns", "time_ns").sum()).sort("domain", descending=True)
        wholes = [fsum(sums[name]) for name in ("base_ns", "time_ns")]
        parts = []
        for name, *times_ns in sums.rows():
            before, after = (ns / whole if whole else 0.0 for ns, whole in zip(times_ns, wholes, strict=True))
            if _moved(before, after):
                parts.append(f"{_DOMAIN_WORDS.get(name, name.lower())} {percent(before)} -> {percent(after)}")
        clauses = [f"of the GPU time {', '.join(parts)}"] if parts else []
        rows = [self.sides.row(number, named=True) for number in (0, side)]
        times = [fsum(row[name] for name in TIMES) if row["gpu_count"] else 0.0 for row in rows]
        if all(times):
            before, after = (1 - row["idle_ns"] / time for row, time in zip(rows, times, strict=True))
            if _moved(before, after):
                pair = zip((before, after), times, strict=True)
                clauses.append(f"a GPU works {' -> '.join(f'{percent(share)} of {_ms(time)}' for share, time in pair)}")
        return f"shares: {'; '.join(clauses)}" if clauses else None

    def structure_verdict(self, side: int) -> str | None:
        """The common parts of the call trees of a side and of the base; None = they have none, or are equal."""
        rows = self.operators.filter(pl.col("side") == side)
        if not rows.height or self.is_equal(side):
            return None
        label, base = (self.sides["label"][number] for number in (side, 0))
        is_both = (pl.col("base_gpu_count") > 0) & (pl.col("gpu_count") > 0) & (pl.col("name") != UNLINKED)
        both = rows.filter(is_both)
        shares = [fsum(both[name]) / total if (total := fsum(rows[name])) else 0.0 for name in ("base_ns", "time_ns")]
        times = {label: self.most_gains_ns[side - 1], base: self.most_gains_ns[side - 1] - fsum(rows["delta_ns"])}
        gains = " and ".join(f"{doer} would take at most {_ms(max(gain, 0.0))} less" for doer, gain in times.items())
        places = counted(int(both["pair_count"].sum()), "places")
        return (
            f"call trees: {places} that launch GPU work are in both, with {percent(shares[0])} of the GPU time of "
            f"{base} and {percent(shares[1])} of that of {label}; were each as fast as the other where it is slower, "
            f"{gains}"
        )

    @property
    def _unit(self) -> str:
        return "step" if self.step else "run"

    def above(self, side: int, limit: float, on: FailOn = "total") -> list[Regression]:
        """Things that got slower by more than `limit`, a share, within noise too: the GPU time, kernels, or steps."""
        row = self.sides.row(side, named=True)
        label, unit = row["label"], self._unit
        if on == "kernel":
            things = self.things.filter((pl.col("side") == side) & (pl.col("domain") == "KERNEL"))
            slower = things.filter(pl.col("change") > limit).sort(-pl.col("delta_ns"), "name")
            rows = slower.select("name", "change", "noise").rows()
            names = short_names([name for name, *_ in rows], _LINE_WIDTH)
            return [Regression(f"{label}: kernel {names[name]}", *figures) for name, *figures in rows]
        total = Regression(f"{label}: GPU time per {unit}", row["change"], row["noise"])
        step = Regression(f"{label}: duration of a step", row["step_change"], row["step_noise"])
        measured = step if on == "step" else total
        return [measured] if measured.change is not None and measured.change > limit else []


def change_text(change: float | None, *, none: str = "-") -> str:
    """A relative change: in percent, and as a factor where that would be a long number.

    >>> change_text(0.055), change_text(-0.58), change_text(18137.3), change_text(None)
    ('+5.5 %', '-58.0 %', '18,138 times', '-')
    """
    if change is None:
        return none
    return percent(change, sign=True) if change < _TIMES_FROM else f"{1 + change:,.{0 if change >= 99 else 1}f} times"


def _moved(before: float, after: float) -> bool:
    return abs(after - before) >= _SHOWN_SHARE


def combine_compare(
    sides: Sequence[Sequence[PartialComparison]],
    *,
    labels: Sequence[str] | None = None,
    repeats: Sequence[Sequence[PartialComparison]] = (),
    step: str | None = None,
    force: bool = False,
) -> RunComparison:
    """Sides, each the partial results of its files, against the first; `labels` names them (None = A, B, ...).

    `repeats` are repeated runs of the first side, to measure noise. `step` is the name of the marker range that is a
    step, or a /regular expression/ for it; None = the unit is the run. With `force`, a kernel that only the base has is
    compared with one that only a side has, if it is one each. Raises `UsageError` when there are fewer than two sides,
    or a side has no such step.
    """
    if len(sides) < 2:
        raise UsageError("a comparison needs two runs", advice="give a second PATH")
    names = list(labels or (side_label(number) for number in range(len(sides))))
    measured = [Side.of(side, name, step) for side, name in zip(sides, names, strict=True)]
    repeated = [Side.of(run, "a repeated run", step) for run in repeats]
    base = measured[0]
    run_noise = _run_noise([base.rows, *(run.rows for run in repeated)]) if repeated else None
    things, renamed, structures = [], [], []
    for number, side in enumerate(measured[1:], start=1):
        structures.append(structure(number, (base.forests, side.forests), (base.steps, side.steps)))
        pairs = _pairs(base, side, other_names(structures[-1].kernel_pairs), force=force)
        things.append(_compared(number, base, side, pairs, run_noise))
        renamed += [Renamed(number, base_name, name) for base_name, name in pairs.items()]
    all_things = pl.concat(things)
    return RunComparison(
        sides=_sides(measured, names, repeated),
        parts=_parts(all_things, len(measured)),
        things=all_things,
        step=step,
        repeat_count=len(repeats),
        operators=pl.concat(compared.operators for compared in structures),
        tree=pl.concat(compared.tree for compared in structures),
        kernel_pairs=pl.concat(compared.kernel_pairs for compared in structures),
        most_gains_ns=tuple(compared.most_gain_ns for compared in structures),
        renamed=tuple(renamed),
    )


def _sides(measured: Sequence[Side], names: Sequence[str], repeats: Sequence[Side]) -> pl.DataFrame:
    base = measured[0]
    rows = [
        {
            "side": number,
            "label": names[number],
            "process_count": side.process_count,
            "step_count": side.steps,
            "gpu_ns": side.gpu_ns,
            "change": side.gpu_ns / base.gpu_ns - 1 if base.gpu_ns else None,
            "noise": total_noise(base, side, repeats) if number else None,
            "step_ns": side.step_mean.mean_ns if side.step_mean else None,
            "step_change": _step_change(base, side),
            "step_noise": step_noise(base, side, repeats) if number else None,
            "wall_ns": side.wall_ns,
        }
        | side.times
        for number, side in enumerate(measured)
    ]
    return frame_of(RunComparison.tables["sides"], rows)


def _step_change(base: Side, side: Side) -> float | None:
    return side.step_mean.mean_ns / base.step_mean.mean_ns - 1 if side.step_mean and base.step_mean else None


def _parts(things: pl.DataFrame, side_count: int) -> pl.DataFrame:
    """The difference of the GPU time of each side by status; see `RunComparison.tables`."""
    on_gpu = things.filter(pl.col("domain").is_in(GPU_DOMAINS))
    rows = []
    for side, status in product(range(1, side_count), (*CHANGES, *REMAINDER)):
        part = on_gpu.filter((pl.col("side") == side) & (pl.col("status") == status))
        if part.height:  # the largest difference first
            largest = {"largest_name": part["name"][0], "largest_delta_ns": part["delta_ns"][0]}
            sums = {"thing_count": part.height, "delta_ns": fsum(part["delta_ns"])}
            rows.append({"side": side, "status": status, "is_attributed": status in CHANGES} | sums | largest)
    return frame_of(RunComparison.tables["parts"], rows)


def _pairs(base: Side, side: Side, known_pairs: Mapping[str, str], *, force: bool) -> dict[str, str]:
    """Kernels that only the base has, with those that only the side has and that are the same under another name.

    `known_pairs` are those that do the same work by the call trees; the names tell the others.
    """
    base_uses, side_uses = kernel_uses(base), kernel_uses(side)
    gone, new = base_uses.keys() - side_uses.keys(), side_uses.keys() - base_uses.keys()
    pairs = {name: other for name, other in known_pairs.items() if name in gone and other in new}
    gone, new = gone - pairs.keys(), new - set(pairs.values())
    pairs |= dict(pairs_of([base_uses[name] for name in sorted(gone)], [side_uses[name] for name in sorted(new)]))
    gone, new = gone - pairs.keys(), new - set(pairs.values())
    if force and len(gone) == len(new) == 1:
        pairs[gone.pop()] = new.pop()
    return pairs


def compare_runs(runs: Sequence[Run], **options: Any) -> RunComparison:
    """Runs against the first of them; `options` as for `combine_compare`."""
    return combine_compare([[partial_compare(part) for part in run.parts] for run in runs], **options)


def _run_noise(runs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Distance of the mean of a thing in one more run from that of the base, by the spread of repeated runs."""
    together = pl.concat(run.select("domain", "name", "mean_ns") for run in runs)
    bounds = {count: t_bound(MEAN_TAIL, count - 1) for count in range(2, len(runs) + 1)}
    statistics = together.group_by(_THING).agg(count=pl.col("mean_ns").count(), deviation=pl.col("mean_ns").std())
    bound = pl.col("count").replace_strict(bounds, default=None, return_dtype=pl.Float64)
    return statistics.select(*_THING, run_noise_ns=bound * pl.col("deviation"))


def _compared(
    number: int, base: Side, side: Side, pairs: Mapping[str, str], run_noise: pl.DataFrame | None
) -> pl.DataFrame:
    """The things of one side against those of the base; `pairs` are base names of kernels and those of the side."""
    base_rows = base.rows.rename(lambda name: name if name in _THING else f"base_{name}")
    side_rows = _with_base_names(side.rows, pairs)
    both = base_rows.join(side_rows, on=_THING, how="full", coalesce=True, maintain_order="left_right")
    amounts = [name for column in ("raw_calls", "per_unit", "time") for name in (column, f"base_{column}")]
    rows = both.with_columns(pl.col(amounts).fill_null(0))
    rows = _with_noise(rows, run_noise)
    difference = pl.col("mean_ns") - pl.col("base_mean_ns")
    is_on_both = (pl.col("raw_calls") > 0) & (pl.col("base_raw_calls") > 0)
    speed = pl.when(is_on_both).then((pl.col("per_unit") * difference).fill_null(0.0)).otherwise(0.0)
    rows = rows.with_columns(delta_ns=pl.col("time") - pl.col("base_time"), speed_ns=speed)
    rows = rows.with_columns(work_ns=pl.col("delta_ns") - pl.col("speed_ns"))
    is_renamed = (pl.col("domain") == "KERNEL") & pl.col("name").is_in([*pairs])
    status = _status(rows.height, base.process_count, side.process_count)
    on_gpu = pl.col("domain").is_in(GPU_DOMAINS)
    return (
        rows.with_columns(
            status=pl.when(is_renamed).then(pl.lit("renamed")).otherwise(status),
            base_name=pl.when(is_renamed).then("name"),
            name=pl.when(is_renamed).then(pl.col("name").replace(dict(pairs))).otherwise("name"),
        )
        .sort(~on_gpu, -pl.col("delta_ns").abs(), *_THING)
        .with_columns(
            side=pl.lit(number, pl.Int64),
            base_calls="base_per_unit",
            calls="per_unit",
            change=pl.when(pl.col("base_mean_ns") > 0).then(difference / pl.col("base_mean_ns")),
            noise=pl.when(pl.col("base_mean_ns") > 0).then(pl.col("noise_ns") / pl.col("base_mean_ns")),
            base_ns="base_time",
            time_ns="time",
            delta_share=pl.when(on_gpu & (base.gpu_ns > 0)).then(pl.col("delta_ns") / (base.gpu_ns or 1.0)),
        )
        .select(RunComparison.tables["things"].names)
    )


def _with_base_names(rows: pl.DataFrame, pairs: Mapping[str, str]) -> pl.DataFrame:
    """Kernels of a side under their names at the base."""
    names = {name: base_name for base_name, name in pairs.items()}
    is_kernel = pl.col("domain") == "KERNEL"
    return rows.with_columns(name=pl.when(is_kernel).then(pl.col("name").replace(names)).otherwise("name"))


def _with_noise(rows: pl.DataFrame, run_noise: pl.DataFrame | None) -> pl.DataFrame:
    """The rows with `noise_ns`: of their calls, and of repeated runs or, where there are none, a share of the mean."""
    rows = rows.with_columns(_noise(rows))
    if run_noise is not None:
        rows = rows.join(run_noise, on=_THING, how="left", maintain_order="left")
        return rows.with_columns(noise_ns=pl.max_horizontal("noise_ns", "run_noise_ns"))
    floor = LEAST_CHANGE * pl.col("base_mean_ns")
    is_known = pl.col("noise_ns").is_not_null()
    return rows.with_columns(noise_ns=pl.when(is_known).then(pl.max_horizontal("noise_ns", floor)))


def _noise(rows: pl.DataFrame) -> pl.Series:
    """Difference that the means of equal runs may have; null where a side has too few calls to tell."""
    tail = RUN_FALSE_ALARMS / max(rows.height, 1)
    bounds: list[float | None] = []
    figures = rows.select("base_error_ns", "base_degrees", "error_ns", "degrees")
    for base_error, base_degrees, error, degrees in figures.rows():
        is_known = base_error is not None and error is not None
        bounds.append(difference_bound(tail, (base_error, base_degrees), (error, degrees)) if is_known else None)
    return pl.Series("noise_ns", bounds, dtype=pl.Float64)


def _status(thing_count: int, base_processes: int, processes: int) -> pl.Expr:
    """The change: the larger of the differences by speed and by calls, where that is beyond noise."""
    difference = pl.col("mean_ns") - pl.col("base_mean_ns")
    more_calls = pl.col("per_unit") - pl.col("base_per_unit")
    count_noise = (
        t_bound(RUN_FALSE_ALARMS / max(thing_count, 1), NORMAL_DEGREES)
        * (
            _count_variance("base_raw_calls", "base_per_unit", base_processes)
            + _count_variance("raw_calls", "per_unit", processes)
        ).sqrt()
    )
    speed, work = pl.col("speed_ns"), pl.col("work_ns")
    is_other_speed = (difference.abs() > pl.col("noise_ns")).fill_null(value=False)
    is_other_count = more_calls.abs() > count_noise
    has_one_sign = speed * work >= 0
    is_more_by_calls = work.abs() > speed.abs()
    is_by_speed = is_other_speed & (~is_more_by_calls | (has_one_sign & ~is_other_count))
    is_by_calls = is_other_count & (is_more_by_calls | has_one_sign)
    # Calls are counted, not measured: where fewer of them outweigh a longer mean, they are the change.
    is_by_calls |= is_other_speed & is_more_by_calls & ~has_one_sign
    is_equal = (pl.col("delta_ns") == 0) & (more_calls == 0) & (difference.fill_null(0.0) == 0)
    is_certain = pl.col("noise_ns") <= _TOO_NOISY * pl.col("base_mean_ns")
    return first_label(
        ("new", pl.col("base_raw_calls") == 0),
        ("gone", pl.col("raw_calls") == 0),
        ("same", is_equal),
        ("slower", is_by_speed & (difference > 0)),
        ("faster", is_by_speed),
        ("more calls", is_by_calls & (more_calls > 0)),
        ("fewer calls", is_by_calls),
        ("same", is_certain & (work.abs() <= _TOO_NOISY * pl.col("base_time"))),
        otherwise="cannot tell",
    )


def _count_variance(calls: str, calls_per_unit: str, processes: int) -> pl.Expr:
    """Variance of the calls per unit: numbers of calls are random, and `processes` do the same."""
    units = pl.when(pl.col(calls_per_unit) > 0).then(pl.col(calls) / pl.col(calls_per_unit)).otherwise(1.0)
    return processes * pl.col(calls) / units**2


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:,.3f} ms"


def _signed(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:+,.3f} ms"
