"""Time budget of the GPUs of a run: computation, exposed communication and copies, idle; together the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.run.diagnose import RunDiagnosis, diagnose_run
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec

#: Part -> column of the diagnosis, in the order of a picture.
PARTS = {
    "computation": "computation_ns",
    "exposed communication": "exposed_communication_ns",
    "exposed copies": "exposed_copy_ns",
    "idle": "idle_ns",
}


@dataclass(frozen=True, eq=False)
class TimeBudget(Answer, package=__package__):
    """Budget of the time of the GPUs."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"gpus": RunDiagnosis.tables["gpus"]}

    parts: pl.DataFrame
    gpus: pl.DataFrame
    window_ns: float  #: Mean of the GPUs.


def budget_of(diagnosis: RunDiagnosis) -> TimeBudget:
    """The budget that a diagnosis has measured already."""
    gpus = diagnosis.gpus
    window_ns, count = int(gpus["window_ns"].sum()), max(gpus.height, 1)
    times = {part: int(gpus[column].sum()) for part, column in PARTS.items()} if window_ns else {}
    rows = [(part, time_ns / count, time_ns / window_ns) for part, time_ns in times.items()]
    parts = pl.DataFrame(rows, schema=TimeBudget.tables["parts"].dtypes, orient="row")
    return TimeBudget(parts, gpus, window_ns / count)


def budget(run: Run) -> TimeBudget:
    """Budget of the time of the GPUs."""
    return budget_of(diagnose_run(run))
