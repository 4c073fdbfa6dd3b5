"""`Baseline`: what captures measured, in little space, to judge later ones by; `Budget`: limits that they must keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavewright.model.schema import packaged_specs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.report import InputFile

BASELINE_FORMAT = "wavewright baseline"
BASELINE_SCHEMA_VERSION = 1
STORE_FORMAT = "wavewright store"
STORE_VERSION = 1
STORE_MARK = "wavewright-store.json"  #: The file by which a folder is known as a store of baselines.
#: Columns that all rows of one stored capture have in common, then those of one `Quantity`.
STORE_ROWS = packaged_specs(__package__, "tables/store.toml")["stored"]
OF_CAPTURE = tuple(STORE_ROWS.names[: STORE_ROWS.names.index("subject")])
OF_QUANTITY = tuple(STORE_ROWS.names[STORE_ROWS.names.index("subject") :])


@dataclass(frozen=True)
class Quantity:
    """Something that one capture measured: its mean, and how sure that is."""

    subject: str  #: A name of `wavewright.analysis.common.gate.check`: kernel, gpu-time, cycles, ...
    name: str  #: As recorded; empty = there is only this one of its subject.
    unit: str  #: ns, cycles, share, or the unit of a metric.
    count: int  #: Calls, waves, dispatches or steps that the mean is of.
    mean: float
    error: float | None = None  #: Standard error of the mean within the capture; None = not known.
    degrees: int | None = None  #: Degrees of freedom of `error`.
    median: float | None = None
    deviation: float | None = None  #: Median of the distances from the median.
    total: float | None = None  #: Of things of the GPU: their time per unit (run or step).
    lanes: float | None = None  #: Of kernels: mean size of the grid.
    file: str = ""  #: Of source lines: the file; `line` is its line.
    line: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Identity of the measured thing."""
        return self.subject, self.name


@dataclass(frozen=True)
class MeasuredCapture:
    """Measurements of one capture."""

    label: str  #: Name of its file or folder.
    quantities: tuple[Quantity, ...]
    inputs: tuple[InputFile, ...] = ()
    target: str = ""  #: GPU: gfx942, ..., or the product where nothing is known about it; empty = not recorded.
    product: str = ""
    software: Mapping[str, str] = field(default_factory=dict)  #: What wrote it: format, version.
    kernel: str = ""  #: Of traces: the traced kernel, without template arguments.
    code: str = ""  #: Of traces: a hash of the instructions that ran.
    step_count: int = 1  #: Steps of all processes; 1 = the unit is the run.
    damages: tuple[str, ...] = ()  #: Losses that may change numbers, in words.


@dataclass(frozen=True)
class Baseline:
    """One or several captures of the same program."""

    kind: str  #: trace, run or counters.
    captures: tuple[MeasuredCapture, ...]
    step: str | None = None  #: The marker range that is a step; None = the unit is the run.
    filters: Mapping[str, str] = field(default_factory=dict)
    version: str = ""  #: Of wavewright.
    schema_version: int = BASELINE_SCHEMA_VERSION

    @property
    def targets(self) -> tuple[str, ...]:
        """The GPUs, each once."""
        return tuple(sorted({capture.target for capture in self.captures if capture.target}))


@dataclass(frozen=True)
class CaptureLabels:
    """Labels that captures get when they are stored."""

    series: str = ""
    commit: str = ""
    taken_ns: int | None = None  #: Since 1970; None = the newest change of the input files.
    others: tuple[str, ...] = ()  #: KEY=VALUE.


@dataclass(frozen=True)
class Limit:
    """One limit of a budget."""

    text: str  #: As it was written.
    subject: str  #: A name of `wavewright.analysis.common.gate.check`.
    name: str  #: Part of a recorded name, or a /regular expression/; empty = the subject has no names.
    is_at_most: bool  #: Else the value is the least that is allowed.
    value: float
    unit: str  #: ns, share, cycles; empty = as measured.


@dataclass(frozen=True)
class Budget:
    """The limits of one file."""

    path: str
    limits: tuple[Limit, ...]
    strongest_finding: float | None = None  #: Share of the time that no finding may promise; None = not asked for.
