"""Contents of a trace, missing data, and the origin of the resources of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.trace.about.overview import Overview, overview
from wavewright.analysis.trace.about.subject import inferred_gpu
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS, THREAD_TRACE, TableSpec
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Contents(Answer, package=__package__):
    """The contents of a trace."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"kernels": THREAD_TRACE["kernels"]}

    overview: Overview
    format: str
    target_origin: str
    inferred_gpu: str  #: Where no file names the GPU, the one that the code is sure to be of; empty = several.
    shader_engines: tuple[int, ...]  #: Those that traced waves ran on; without waves, all that the trace names.
    code_rows: int
    rows_with_line: int  #: Code rows that debug lines lead to a source line.
    source_texts: int  #: Source files whose text is in the trace.
    counter_samples: int
    markers: int
    realtime_pairs: int
    pc_samples: int
    sampling_method: str  #: Of the PC samples: `host trap`, or `stochastic` where they record issue and stalls.
    sampled_dispatches: int  #: Dispatches with PC samples; 0 = not recorded.
    kernels: pl.DataFrame
    missing: tuple[str, ...]


def contents(trace: ThreadTrace) -> Contents:
    """Count the contents of a trace, and list missing data."""
    samples = trace.samples
    sure = "" if trace.source.target else inferred_gpu(trace)
    texts = trace.sources["text"]
    return Contents(
        overview=overview(trace),
        format=trace.source.format,
        target_origin=trace.source.target_origin,
        inferred_gpu=sure,
        shader_engines=tuple((trace.waves if trace.waves.height else trace.shader_engines)["se"].unique().sort()),
        code_rows=trace.code.height,
        rows_with_line=trace.code.height - trace.code["line"].null_count(),
        source_texts=texts.len() - texts.null_count(),
        counter_samples=trace.sampled_counters.height,
        markers=trace.markers.height or trace.shader_data.height,
        realtime_pairs=trace.realtime.height,
        pc_samples=sum(int(samples[name].sum()) for name in SAMPLE_COUNTS),
        sampling_method=_method(trace),
        sampled_dispatches=trace.sampled_dispatches["dispatch"].drop_nulls().len(),
        kernels=_entered(trace),
        missing=_missing(trace, sure),
    )


def _method(trace: ThreadTrace) -> str:
    if not trace.samples.height:
        return ""
    return "host trap" if trace.samples["unknown_count"].sum() else "stochastic"


def _entered(trace: ThreadTrace) -> pl.DataFrame:
    if trace.samples.height and not trace.waves.height and not trace.occupancy.height:
        sampled = trace.code.join(trace.samples, on="row", how="semi")["function"]
        return trace.kernels.filter(pl.col("name").is_in(sampled.drop_nulls().unique().implode()))
    entered = trace.waves["kernel"].drop_nulls().unique()
    if not entered.len():
        entered = trace.occupancy["kernel"].drop_nulls().unique()
    return trace.kernels.filter(pl.col("kernel").is_in(entered.to_list()))


def _missing(trace: ThreadTrace, sure: str) -> tuple[str, ...]:
    has = {
        "waves": trace.waves.height or trace.samples.height,
        "code": trace.code.height,
        "occupancy": trace.occupancy.height or trace.samples.height,
        "source lines": trace.code["line"].drop_nulls().len(),
        "source texts": trace.sources["text"].drop_nulls().len(),
        "registers and LDS": _entered(trace)["vgprs"].drop_nulls().len(),
        "the exact GPU": trace.source.target is not None or sure,
        "wall clock": trace.realtime.height or trace.samples.height,
        "sampled counters": trace.sampled_counters.height or trace.samples.height,
        "markers": trace.markers.height or trace.shader_data.height or trace.samples.height,
    }
    return tuple(name for name, there in has.items() if not there)
