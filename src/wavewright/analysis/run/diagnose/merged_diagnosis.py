"""The partial diagnoses of all runs, merged: the questions that rules ask about the time of the GPUs.

Times are sums over all GPUs, or means of one (`mean`); shares are of the mean window. The longest cases become
evidence, with the node, GPU and rank that they were on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from wavewright.analysis.run.diagnose.idle import CAUSES, FLAGS
from wavewright.analysis.run.diagnose.partial import MeasuredStep, PartialDiagnosis
from wavewright.analysis.run.diagnose.work import COMMUNICATE, COPY
from wavewright.analysis.run.select.gpus import GPU_KEY
from wavewright.base.words import counted
from wavewright.facts.run_rules import RULES
from wavewright.model.findings import PlaceEvidence

_MOST_EVIDENCE = 5  #: Cases that a finding shows, the longest.
_LANE = ["part", "place"]  #: One GPU: the number of its run, and its number in it.


def total(values: pl.Series) -> float:
    """The sum of a column of numbers; 0 of none."""
    return float(values.sum())


@dataclass(frozen=True)
class MergedDiagnosis:
    """Partial results of all runs; times are averaged over GPUs."""

    partials: Sequence[PartialDiagnosis]
    named: str = ""  #: What the user calls the input.

    @cached_property
    def gpus(self) -> pl.DataFrame:
        """The GPUs of all runs, with `part` and their window, `from_ns` to `to_ns`.

        GPUs of one node have one window, as in `busy`: a GPU that begins late or ends early idles at its edge. Files
        that were recorded one after the other have windows of their own; `window_ns` excludes time between recordings.
        """
        rows = self.all("gpus")
        parts = ("computation_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        inside = pl.col("end_ns") - pl.col("start_ns") - pl.sum_horizontal(parts) - pl.col("apart_ns")
        times = {"from_ns": pl.col("start_ns").min(), "to_ns": pl.col("end_ns").max()}
        spans = rows.group_by("machine", "part").agg(pl.col("apart_ns").max(), **times)
        reached = pl.col("to_ns").cum_max().shift(1).over("machine")
        number = (pl.col("from_ns") >= reached).fill_null(value=True).cum_sum().over("machine")
        spans = spans.sort("machine", "from_ns", "part").with_columns(number=number)
        spans = spans.with_columns(
            pl.col("from_ns", "apart_ns").min().over("machine", "number"),
            pl.col("to_ns").max().over("machine", "number"),
        )
        spans = spans.drop("number")
        rows = rows.drop("apart_ns").join(spans, on=["machine", "part"], how="left", maintain_order="left")
        # Idle are also the edges of the window, and what no part of the time between first and last work accounts for.
        edge = pl.col("start_ns") - pl.col("from_ns") + pl.col("to_ns") - pl.col("end_ns")
        return rows.with_columns(
            edge_ns=edge + inside,
            idle_ns=pl.col("idle_ns") + edge + inside,
            window_ns=pl.col("to_ns") - pl.col("from_ns") - pl.col("apart_ns"),
        )

    @cached_property
    def gpu_count(self) -> int:
        """Number of GPUs with work; one that several files record counts for each file."""
        return self.gpus.height

    @cached_property
    def has_calls(self) -> bool:
        """True where calls into runtimes were recorded."""
        return any(part.facts["call_count"] for part in self.partials)

    @cached_property
    def gpus_text(self) -> str:
        """The GPUs that all times are the mean of, in words."""
        count = self.gpus.select(GPU_KEY).n_unique()
        if count < self.gpu_count:
            return f"{self.gpu_count} files that share {counted(count, 'GPUs')}"
        return counted(count, "GPUs")

    @cached_property
    def window_ns(self) -> float:
        """Mean length of the windows of the GPUs."""
        return self.mean(self.gpus["window_ns"])

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Idle time by cause: the columns of `idle.idle_cells`."""
        return self.all("cells")

    @cached_property
    def exposed(self) -> pl.DataFrame:
        """Exposed time of communication and copies: the columns of `PartialDiagnosis.exposed`."""
        return self.all("exposed")

    @cached_property
    def copies(self) -> pl.DataFrame:
        """Copies by GPU and direction: the columns of `partial._copies`."""
        return self.all("copies")

    @cached_property
    def calls(self) -> dict[str, tuple[int, int, int]]:
        """Kind of call -> how many there are, their time in ns (mean of the runs), how many after the first step."""
        count = max(1, len(self.partials))
        sums = self.all("calls").group_by("kind").agg(pl.col("count", "time_ns", "late_count").sum())
        return {kind: (calls, time // count, late) for kind, calls, time, late in sums.iter_rows()}

    @cached_property
    def kernels(self) -> pl.DataFrame:
        """Computing kernels by name, with their sums over all GPUs; the one with most time first."""
        rows = pl.concat(part.kernels.kernels for part in self.partials)
        sums = rows.group_by("name").agg(
            pl.col("calls", "total_ns", "graph_calls", "small_ns", "lost_ns").sum(),
            pl.col("scratch_bytes", "max_ns", "workgroups").max(),
        )
        return sums.sort("total_ns", "name", descending=[True, False])

    @cached_property
    def steps(self) -> list[MeasuredStep]:
        """The steps of all GPUs."""
        return [step for part in self.partials for step in part.steps]

    @cached_property
    def step_count(self) -> int:
        """Steps of one GPU; 0 = none are known."""
        return round(len(self.steps) / max(1, self.gpu_count))

    @property
    def step_name(self) -> str:
        """Name that steps are known by."""
        return next((step.name for step in self.steps), "")

    @property
    def path(self) -> str:
        """Name of the input in commands."""
        if self.named:
            return self.named
        paths = [str(part.facts["path"]) for part in self.partials]
        return paths[0] if len(paths) == 1 else "PATHS"

    def time(self, name: str) -> float:
        """The mean over GPUs of a column of `gpus`."""
        return self.mean(self.gpus[name])

    def mean(self, times: pl.Series | float) -> float:
        """The mean over GPUs of a sum, or of values to add up."""
        summed = total(times) if isinstance(times, pl.Series) else times
        return summed / self.gpu_count if self.gpu_count else 0.0

    def share(self, time_ns: float) -> float:
        """A mean time as a share of the window."""
        return time_ns / self.window_ns if self.window_ns else 0.0

    def reaches(self, rule: str, time_ns: float) -> bool:
        """True if a mean time is at least the share of the window from which on a rule speaks."""
        return self.share(time_ns) >= (RULES[rule].say or 0)

    def gap_count(self, claim: pl.Expr) -> int:
        """Least number of gaps that a claim is about: one with several causes counts once."""
        groups = self.cells.filter(claim).group_by(*_LANE, "segment", *FLAGS)
        return int(groups.agg(pl.col("gap_count").max())["gap_count"].sum())

    def idle_evidence(self, claim: pl.Expr) -> tuple[PlaceEvidence, ...]:
        """The longest gaps that a claim is about."""
        rows = self.all("worst")
        index = [name for name in rows.columns if name not in CAUSES]
        parts = rows.with_row_index("gap")
        parts = parts.unpivot(CAUSES, index=["gap", *index], variable_name="cause", value_name="part_ns")
        chosen = (
            parts.filter(claim, pl.col("part_ns") > 0)
            .group_by("gap")
            .agg(pl.col([name for name in index if name != "cause"]).first(), pl.col("part_ns").sum())
        )
        top = chosen.sort("part_ns", "gap", descending=[True, False]).head(_MOST_EVIDENCE)
        return tuple(
            self.evidence(
                row,
                what=row["before"] or "nothing",
                next_work=row["after"] or "?",
                start_ns=row["gap_start_ns"],
                end_ns=row["gap_start_ns"] + row["gap_ns"],
                time_ns=row["part_ns"],
                call=row["call"] or "",
                call_ns=row["call_ns"] or 0,
                stack=tuple(row["stack"] or row["launch_stack"] or ()),
            )
            for row in top.iter_rows(named=True)
        )

    def exposed_evidence(self, *, is_copy: bool) -> tuple[PlaceEvidence, ...]:
        """The longest exposed intervals of communication or of copies."""
        rows = self.all("exposed_worst").filter(pl.col("kind") == (COPY if is_copy else COMMUNICATE))
        top = rows.sort("exposed_ns", "start_ns", descending=[True, False]).head(_MOST_EVIDENCE)
        return tuple(
            self.evidence(
                row,
                what=row["name"] or "?",
                start_ns=row["start_ns"],
                end_ns=row["end_ns"],
                time_ns=row["exposed_ns"],
                stack=tuple(row["stack"] or ()),
            )
            for row in top.iter_rows(named=True)
        )

    def kernel_evidence(self, rows: pl.DataFrame, time: str, count: str = "calls") -> tuple[PlaceEvidence, ...]:
        """Kernels as evidence, with no place in time."""
        top = rows.head(_MOST_EVIDENCE).iter_rows(named=True)
        return tuple(
            PlaceEvidence(
                row["name"], int(row[count]), int(self.mean(row[time])), sequence=tuple(row.get("names") or ())
            )
            for row in top
        )

    def evidence(self, row: dict[str, object], *, start_ns: int, end_ns: int, **fields: object) -> PlaceEvidence:
        """One case on the GPU that `part` and `place` of the row name; `fields` are others of `PlaceEvidence`."""
        gpu = self._lanes[(row["part"], row["place"])]  # type: ignore[index]
        return PlaceEvidence(
            count=1,
            node=gpu["node"],
            gpu=gpu["gpu"],
            rank=gpu["rank"],
            start_ns=start_ns,
            end_ns=end_ns,
            window=time_window(start_ns - gpu["origin_ns"], end_ns - gpu["origin_ns"]),
            **fields,  # type: ignore[arg-type]
        )

    @cached_property
    def _lanes(self) -> dict[tuple[int, int], dict[str, Any]]:
        return {(row["part"], row["place"]): row for row in self.gpus.iter_rows(named=True)}

    def all(self, name: str) -> pl.DataFrame:
        """A table of all runs, with `part`, the number of the run."""
        table: pl.DataFrame = pl.concat(
            getattr(part, name).select(pl.lit(number, pl.UInt32).alias("part"), pl.all())
            for number, part in enumerate(self.partials)
        )
        return table


def time_window(start_ns: int, end_ns: int) -> str:
    """A period after the start of the run as a value of --time.

    >>> time_window(158_391_000, 160_285_500)
    '158.391ms:160.285500ms'
    """
    texts = []
    for time in (max(0, start_ns), max(0, end_ns)):
        digits = f"{time / 1e6:.3f}" if time % 1_000 == 0 else f"{time // 1_000_000}.{time % 1_000_000:06d}"
        texts.append(f"{digits}ms")
    return ":".join(texts)
