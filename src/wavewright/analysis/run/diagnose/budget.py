"""The time budget of a run: computation, communication and copies that nothing hides, idle time; all of the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.run.diagnose import RunDiagnosis, diagnose_run
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec, table_spec

#: Part -> column of the diagnosis, in the order of a picture.
PARTS = {
    "computation": "computation_ns",
    "exposed communication": "exposed_communication_ns",
    "exposed copies": "exposed_copy_ns",
    "idle": "idle_ns",
}


@dataclass(frozen=True, eq=False)
class TimeBudget(Answer):
    """Budget of the time of the GPUs."""

    definition: ClassVar[str] = (
        "The window of a GPU is from the first to the last work of the GPUs of its node, without start-up where that "
        "is told. Computation is the time with a kernel that computes; communication and copies count where no "
        "computation, and for copies no kernel at all, ran at the same time; the rest is idle. The four add up to the "
        "window. Shares are of the windows of all GPUs together."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "parts": table_spec(
            "parts",
            "one part of the time",
            """
            part     String   -   | computation, exposed communication, exposed copies or idle
            time_ns  Float64  ns  | mean of the GPUs
            share    Float64  -   | of the windows of all GPUs, 0 to 1
            """,
        ),
        "gpus": RunDiagnosis.tables["gpus"],
    }

    parts: pl.DataFrame
    gpus: pl.DataFrame
    window_ns: float  #: Mean of the GPUs.


def budget_of(diagnosis: RunDiagnosis) -> TimeBudget:
    """The budget that a diagnosis has measured already."""
    gpus = diagnosis.gpus
    window_ns, count = int(gpus["window_ns"].sum()), max(gpus.height, 1)
    times = {part: int(gpus[column].sum()) for part, column in PARTS.items()}
    rows = (
        [(part, time / count, time / window_ns if window_ns else 0.0) for part, time in times.items()]
        if window_ns
        else []
    )
    spec = TimeBudget.tables["parts"]
    return TimeBudget(pl.DataFrame(rows, schema=spec.dtypes, orient="row"), gpus, window_ns / count)


def budget(run: Run) -> TimeBudget:
    """Budget of the time of the GPUs."""
    return budget_of(diagnose_run(run))
