"""The kinds of input, how each is called, and what reads it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from wavewright.base.toml import packaged


class Kind(Enum):
    """The kinds of input that wavewright can tell apart; the value is how to call them."""

    RAW_CAPTURE = "raw thread-trace capture"
    UI_OUTPUT = "decoded thread trace (ui_output directory)"
    PARQUET = "wavewright Parquet directory"
    DECODED_FOLDER = "folder of decoded thread traces"
    ARCHIVE = "archive"
    ARCHIVE_FOLDER = "folder of archives"
    SAMPLES = "rocprofv3 PC samples (CSV)"
    COUNTERS = "hardware counters (CSV)"
    KERNEL_TRACE = "rocprofv3 kernel trace (CSV)"
    CSV_TRACE = "rocprofv3 trace (CSV)"
    STATISTICS = "rocprofv3 statistics (CSV)"
    AGENTS = "rocprofv3 agent list (CSV)"
    RESULTS = "rocprofv3 results (JSON)"
    CHROME = "Chrome trace (JSON)"
    XPLANE = "XPlane file of JAX or XLA"
    ROCPD = "ROCpd database"
    RPD = "RPD database"
    ROCPROF_DATABASE = "rocprof (v1) database"
    ROCPROF_CSV = "rocprof (v1) dispatches (CSV)"
    ROCPROF_COUNTERS = "rocprof (v1) counters (CSV)"
    COMPUTE_DATABASE = "analysis database of ROCm Compute Profiler"
    DATABASE = "SQLite database"
    BROKEN_DATABASE = "SQLite database that cannot be read"
    PACKAGE = "ROCpd package"
    RUN_TABLES = "wavewright tables of a run"
    RUN_FOLDER = "folder of runs"
    CODE_OBJECT = "GPU code object (ELF)"
    PERFETTO = "Perfetto trace"
    CALL_TOTALS = "call totals of rocprof-sys (sums of calls, without times)"
    MEMORY_SNAPSHOT = "memory snapshot of PyTorch"
    FLIGHT_RECORDER = "flight recorder dump of PyTorch"
    COLLECTIVE_LOG = "log of collectives (RCCL, RCCL Inspector)"
    PROTON = "recording of Proton (sums of kernels by call path, without times)"
    EXECUTION_TRACE = "execution trace (Chakra): operators and what they depend on"
    NSYS = "recording of NVIDIA Nsight Systems"
    PLUGIN = "file that a plugin reads"
    STORE = "store of captures"
    UNKNOWN = "not a format that wavewright reads"


class InputFacts(NamedTuple):
    """Description of a kind of input, and advice."""

    document: str | None  #: One of `DOCUMENTS`; None = it cannot be opened by itself.
    what: str
    advice: str  #: With `{path}`.


#: All that is known about the kinds of input: the only such table.
INPUTS = {
    Kind[name]: InputFacts(row.get("document"), row.get("what", Kind[name].value), row["advice"])
    for name, row in packaged("inputs.toml", __package__).items()
}


def _kinds_of(document: str) -> tuple[Kind, ...]:
    return tuple(kind for kind, facts in INPUTS.items() if facts.document == document)


THREAD_TRACES = _kinds_of("trace")
RUNS = _kinds_of("run")  #: Files of counters may contain a run, too.
COUNTER_CAPTURES = _kinds_of("counters")
COUNTER_TABLES = (Kind.COUNTERS, Kind.ROCPROF_COUNTERS)  #: Kinds of tables with hardware counters per dispatch.
STORES_OF_COUNTERS = (Kind.ROCPD, Kind.RESULTS)  #: Kinds of runs that may contain hardware counters, too.
