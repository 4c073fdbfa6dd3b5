"""Shapes of the answers to the page: declared tables and fields, from which its TypeScript types are made.

`tools/make_page_types.py` writes `web/src/data/answers.gen.ts` from `SHAPES`. A question that sends an analysis's
answer unchanged names the class only; columns and fields that the page adds are declared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from wavewright.analysis.counters.compare import CounterComparison
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.limiters import Limiters
from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.analysis.counters.raw import RawCounters
from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.run.calls.flame import FUNCTIONS, Sandwich
from wavewright.analysis.run.compare.compare import RunComparison
from wavewright.analysis.run.contents.launch_statistics import LaunchStatistics
from wavewright.analysis.run.contents.regions import Regions
from wavewright.analysis.run.contents.summary import Summary
from wavewright.analysis.run.diagnose import RunDiagnosis
from wavewright.analysis.run.gpu_time.area import RunArea
from wavewright.analysis.run.gpu_time.busy import Busy
from wavewright.analysis.run.gpu_time.gaps import Gaps
from wavewright.analysis.run.gpu_time.overlap import Overlap
from wavewright.analysis.run.graph.path import CriticalPath
from wavewright.analysis.run.kernels import Kernels
from wavewright.analysis.run.memory.memory import Memory
from wavewright.analysis.run.ranks.collective_times import Collectives
from wavewright.analysis.run.ranks.ranks import Ranks
from wavewright.analysis.run.select.recording import Recording
from wavewright.analysis.trace.about.contents import Contents
from wavewright.analysis.trace.barriers import Barriers
from wavewright.analysis.trace.code.live import LIVE_ROWS
from wavewright.analysis.trace.compare import Comparison
from wavewright.analysis.trace.costs.exposure import ROW_COSTS
from wavewright.analysis.trace.costs.histogram import RowHistogram
from wavewright.analysis.trace.costs.loops import Loops
from wavewright.analysis.trace.costs.sample_hotspots import SampleHotspots
from wavewright.analysis.trace.derived_counters import DerivedCounters
from wavewright.analysis.trace.derived_counters.sampled_counters import SampledCounters
from wavewright.analysis.trace.diagnose import Diagnosis
from wavewright.analysis.trace.lanes import LaneAccesses
from wavewright.analysis.trace.lanes.service import LaneService
from wavewright.analysis.trace.memory_latency import MemoryLatency
from wavewright.analysis.trace.occupancy import Occupancy
from wavewright.analysis.trace.pipes.utilization import Utilization
from wavewright.analysis.trace.stalls import Stalls
from wavewright.analysis.trace.timeline.area import AreaRows
from wavewright.analysis.trace.trust.coverage import Coverage
from wavewright.analysis.trace.waits import Waits
from wavewright.analysis.trace.waves.by_place import WavesByPlace
from wavewright.analysis.trace.waves.states import States
from wavewright.analysis.trace.what_if import WhatIf
from wavewright.model.answer import Answer
from wavewright.model.counters import COUNTER_SET
from wavewright.model.schema import THREAD_TRACE, TableSpec, table_spec
from wavewright.page.run.diagnosis import Case
from wavewright.page.run.flame import LINES
from wavewright.page.run.path import PREDICTIONS, SEGMENTS, STEPS
from wavewright.page.run.times import declared_since_start


def _columns(spec: TableSpec, more: str = "", *, without: tuple[str, ...] = ()) -> TableSpec:
    """The table without some columns and with others."""
    columns = tuple(column for column in spec.columns if column.name not in without)
    return replace(spec, columns=columns + table_spec("", "", more).columns)


def _chosen(spec: TableSpec, names: str) -> tuple[Any, ...]:
    """Some columns of the table, in this order."""
    by_name = {column.name: column for column in spec.columns}
    return tuple(by_name[name] for name in names.split())


@dataclass(frozen=True)
class Shape:
    """Shape of the answer to one question: an analysis's answer, and how the page differs from it."""

    answer: type[Answer] | None = None  #: None = only the tables given here.
    #: Tables that the page makes or extends, in place of the declared ones of these names.
    tables: Mapping[str, TableSpec] = field(default_factory=dict)
    #: Fields that the page adds: name -> type; a `TableSpec` stands for a list of its rows.
    fields: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()  #: Fields of the answer that are not sent.
    times_since_start: bool = False  #: Whether times count from the start of the node (answers about runs).

    @property
    def sent_tables(self) -> dict[str, TableSpec]:
        """The tables as the page gets them."""
        tables = dict(self.answer.tables) if self.answer else {}
        specs = {name: self.tables.get(name, spec) for name, spec in tables.items() if name not in self.without}
        specs |= {name: spec for name, spec in self.tables.items() if name not in specs}
        return {name: declared_since_start(spec) for name, spec in specs.items()} if self.times_since_start else specs

    @property
    def sent_fields(self) -> list[str]:
        """The other fields of the answer, which are those of its class."""
        names = [item.name for item in fields(self.answer)] if self.answer else []  # type: ignore[arg-type]
        return [name for name in names if name not in self.without and name not in self.sent_tables]


def _of_run(answer: type[Answer], **options: Any) -> Shape:
    return Shape(answer, times_since_start=True, **options)


_WAVES = TableSpec(
    "waves",
    "one traced wave",
    (
        *_chosen(THREAD_TRACE["waves"], "wave se cu simd slot slot_wave"),
        *table_spec(
            "",
            "",
            """
            start_cycles        Float64  cycles  | start, on the clock that all shader engines share
            end_cycles          Float64  cycles  | end, on the clock that all shader engines share
            """,
        ).columns,
        *_chosen(THREAD_TRACE["waves"], "kernel me pipe workgroup complete first_instruction instruction_count"),
        *table_spec("", "", "stall_cycles_total  Float64  cycles  | stall of its instructions").columns,
    ),
)

#: Question -> what it answers with.
SHAPES: Mapping[str, Shape] = {
    "area": Shape(AreaRows),
    "barriers": Shape(Barriers),
    "compare": Shape(Comparison, without=("units", "is_part"), fields={"verdict": str, "standing_out_count": int}),
    "compare_units": Shape(
        tables={"units": _columns(Comparison.tables["units"], without=("trace", "address", "base_address"))}
    ),
    "costs": Shape(tables={"rows": ROW_COSTS}),
    "coverage": Shape(
        Coverage, fields={"executed_share": float, "traced_share": float | None, "is_same_short_path": bool}
    ),
    "derived": Shape(tables={name: DerivedCounters.tables[name] for name in ("summary", "problems")}),
    "diagnose": Shape(Diagnosis, without=("link",), fields={"headline": str, "in_run_words": tuple[str, ...]}),
    "edit": Shape(WhatIf, without=("queues", "runs", "measured"), fields={"verdict": str}),
    "heat_map": Shape(WavesByPlace),
    "histogram": Shape(RowHistogram),
    "lane_service": Shape(LaneService),
    "lanes": Shape(LaneAccesses),
    "live_registers": Shape(tables={"rows": LIVE_ROWS}),
    "loops": Shape(Loops),
    "memory_latency": Shape(MemoryLatency),
    "occupancy_limits": Shape(Occupancy),
    "sample_hotspots": Shape(SampleHotspots),
    "stalls": Shape(Stalls, without=("by_row",)),
    "stall_rows": Shape(tables={"rows": _columns(Stalls.tables["by_row"], without=("address",))}),
    "summary": Shape(
        tables={
            "kernels": _columns(Contents.tables["kernels"], without=("code_object", "address", "size")),
            "states": States.tables["total"],
            "pipes": Utilization.tables["pipes"],
            **{name: SampledCounters.tables[name] for name in ("totals", "by_cu", "hardware", "hardware_by_cu")},
        }
    ),
    "utilization": Shape(Utilization, without=("neighbours", "over_time")),
    "waits": Shape(
        Waits,
        tables={
            "waits": _columns(
                Waits.tables["waits"],
                "exposed_stall_cycles_total  Int64  cycles  | stall that no other wave hid; null = not known",
            )
        },
    ),
    "waves": Shape(tables={"waves": _WAVES}),
    "run_area": Shape(RunArea),
    "run_busy": _of_run(Busy, without=("over_time",)),
    "run_collectives": _of_run(Collectives, fields={"verdict": str}),
    "run_compare": _of_run(
        RunComparison, fields={"verdict": str, "time_verdict": str | None, "structure_verdict": str | None}
    ),
    "run_diagnosis": _of_run(RunDiagnosis, fields={"cases": tuple[tuple[Case, ...], ...]}),
    "run_functions": Shape(tables={"functions": FUNCTIONS}),
    "run_gaps": _of_run(Gaps),
    "run_launches": _of_run(LaunchStatistics, fields={"verdict": str}),
    "run_lines": Shape(tables={"lines": LINES}),
    "run_memory": _of_run(Memory, fields={"verdict": str}),
    "run_overlap": _of_run(Overlap, fields={"verdict": str}),
    "run_overview": Shape(
        tables={
            "processes": _columns(
                Recording.tables["processes"],
                """
                place  String    -   | host name of its node, else the file
                begin  Float64?  ns  | first event, since the start of its node
                end    Float64?  ns  | last event, since the start of its node
                gpu_begin  Float64?  ns  | first dispatch or copy, since the start of its node
                gpu_end    Float64?  ns  | last dispatch or copy, since the start of its node
                """,
                without=("start_ns", "end_ns", "gpu_start_ns", "gpu_end_ns", "path", "version"),
            ),
            "gpus": Recording.tables["gpus"],
        }
    ),
    "run_path": Shape(
        tables={
            "groups": _columns(CriticalPath.tables["groups"], without=("start_ns",)),
            "classes": CriticalPath.tables["classes"],
            "contributors": _columns(CriticalPath.tables["contributors"], without=("longest_at_ns",)),
            "segments": SEGMENTS,
            "steps": STEPS,
        },
    ),
    "run_ranks": _of_run(Ranks, fields={"verdict": str}),
    "run_sandwich": Shape(Sandwich),
    "run_what_if": Shape(tables={"predictions": PREDICTIONS}),
    "run_regions": _of_run(
        Regions,
        tables={"tree": _columns(Regions.tables["tree"], without=("path", "domain"))},
        without=("launchers", "callers", "domains"),
    ),
    "run_summary": _of_run(Summary, without=("processes",)),
    "run_kernel": _of_run(Kernels, fields={"by_gpu": Summary.tables["things"], "by_process": Summary.tables["things"]}),
    "counter_compare": Shape(
        CounterComparison,
        tables={
            name: _columns(
                CounterComparison.tables[name],
                "kernel  UInt32  -  | rank of the kernel here; null = all dispatches, or only the base has it",
            )
            for name in ("kernels", "metrics")
        },
        fields={"verdict": str},
    ),
    "counter_diagnosis": Shape(Limiters),
    "counter_dispatches": Shape(
        tables={
            "dispatches": _columns(
                COUNTER_SET["dispatches"],
                """
                kernel       UInt32  -   | rank of its kernel
                duration_ns  Int64   ns  | of the pass without counters if there is one; passes may be averaged
                """,
                without=("start_ns", "end_ns", "agent", "process_id", "kernel_name_spelled"),
            )
        }
    ),
    "counter_kernels": Shape(tables={"kernels": _columns(CounterPanels.tables["kernels"], without=("is_chosen",))}),
    "counter_panels": Shape(tables={"rows": _columns(CounterPanels.tables["rows"], without=("channel",))}),
    "counter_raw": Shape(RawCounters),
    "counter_roofline": Shape(Roofline),
    "memory_chart": Shape(MemoryChart, without=("kernel_names",)),
}
