"""Stored measurements of many captures: one row per capture and quantity, in a folder that many programs add to."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.model.schema import table_spec

STORE_VERSION = 1
MARK = "wavewright-store.json"  #: The file by which a folder is known as a store.
FORMAT = "wavewright store"

#: Columns that all rows of one capture have in common, then those of one quantity, as in `model.baseline.Quantity`.
STORED = table_spec(
    "stored",
    "one quantity of one stored capture",
    """
    capture     String   -  | identity of the capture: a hash of its input files, of filters and of the dispatch
    taken_ns    Int64    ns | when it was taken, since 1970: --taken, else the newest change of its files
    label       String   -  | its file or folder, and the dispatch
    series      String   -  | benchmark that it belongs to (--series); empty = not said
    kind        String   -  | trace, run or counters
    target      String   -  | GPU: gfx942, ...; empty = not recorded
    commit_id      String   -  | version of the measured program (--commit); empty = not said
    labels      String   -  | further labels (--label), KEY=VALUE one per line
    software    String   -  | what wrote the capture, NAME=VERSION one per line
    step        String   -  | of runs: the marker range that is a step; empty = the unit is the run
    filter      String   -  | what was measured of it (--kernel, --metric), NAME=VALUE one per line
    kernel      String   -  | of traces: the traced kernel; else empty
    code        String   -  | of traces: a hash of the instructions that ran; else empty
    step_count  Int64    -  | steps of all processes; 1 = the unit is the run
    damages     String   -  | losses that may change numbers, one per line; empty = none
    path        String   -  | where the capture was when it was added; empty = it was a baseline file
    subject     String   -  | what was measured: kernel, gpu-time, step, cycles, line, ...
    name        String   -  | name within the subject, as recorded; empty = there is only one
    unit        String   -  | of mean, median and total: ns, cycles, share, ...
    count       Int64    -  | calls, waves, dispatches or steps that the mean is of
    mean        Float64  -  | mean, in `unit`
    error       Float64? -  | standard error of the mean within the capture
    degrees     Int64?   -  | degrees of freedom of `error`
    median      Float64? -  | median, in `unit`
    deviation   Float64? -  | median of the distances from the median
    total       Float64? -  | of things of the GPU: their time per unit (run or step)
    lanes       Float64? -  | of kernels: mean size of the grid
    file        String   -  | of source lines: the file; else empty
    line        Int64    -  | of source lines: the line; else 0
    """,
)
#: Columns that are the same in all rows of a capture.
OF_CAPTURE = tuple(STORED.names[: STORED.names.index("subject")])
OF_QUANTITY = tuple(STORED.names[STORED.names.index("subject") :])


@dataclass(frozen=True)
class Labels:
    """Labels that captures get when they are added."""

    series: str = ""
    commit: str = ""
    taken_ns: int | None = None  #: Since 1970; None = the newest change of the input files.
    others: tuple[str, ...] = ()  #: KEY=VALUE.
