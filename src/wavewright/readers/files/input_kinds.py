"""The kinds of input, how each is called, and what reads it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


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


_TRACE = "wavewright hotspots {path}"
_RUN = "wavewright summary {path}"
_COUNTERS = InputFacts("counters", "hardware counters", "wavewright counters {path}")
_RESOURCES = f"{_RUN}; with a decoded trace, as --resources"

#: All that is known about the kinds of input: the only such table.
INPUTS = {
    Kind.RAW_CAPTURE: InputFacts("trace", Kind.RAW_CAPTURE.value, _TRACE),
    Kind.UI_OUTPUT: InputFacts("trace", Kind.UI_OUTPUT.value, _TRACE),
    Kind.PARQUET: InputFacts("trace", Kind.PARQUET.value, _TRACE),
    Kind.DECODED_FOLDER: InputFacts("trace", Kind.DECODED_FOLDER.value, _TRACE),
    Kind.ARCHIVE: InputFacts("trace", Kind.ARCHIVE.value, _TRACE),
    Kind.ARCHIVE_FOLDER: InputFacts("trace", Kind.ARCHIVE_FOLDER.value, _TRACE),
    Kind.SAMPLES: InputFacts("trace", "PC samples", _TRACE),
    Kind.ROCPD: InputFacts("run", Kind.ROCPD.value, _RUN),
    Kind.RPD: InputFacts("run", Kind.RPD.value, _RUN),
    Kind.ROCPROF_DATABASE: InputFacts("run", Kind.ROCPROF_DATABASE.value, _RUN),
    Kind.ROCPROF_CSV: InputFacts("run", Kind.ROCPROF_CSV.value, _RUN),
    Kind.RESULTS: InputFacts("run", Kind.RESULTS.value, _RESOURCES),
    Kind.CHROME: InputFacts("run", Kind.CHROME.value, _RUN),
    Kind.XPLANE: InputFacts("run", Kind.XPLANE.value, _RUN),
    Kind.PERFETTO: InputFacts("run", Kind.PERFETTO.value, _RUN),
    Kind.CALL_TOTALS: InputFacts(
        "run", Kind.CALL_TOTALS.value, "wavewright query {path} 'SELECT * FROM run.call_totals ORDER BY sum DESC'"
    ),
    Kind.MEMORY_SNAPSHOT: InputFacts("run", Kind.MEMORY_SNAPSHOT.value, "wavewright memory {path}"),
    Kind.FLIGHT_RECORDER: InputFacts("run", Kind.FLIGHT_RECORDER.value, "wavewright collectives {path}"),
    Kind.COLLECTIVE_LOG: InputFacts("run", Kind.COLLECTIVE_LOG.value, "wavewright collectives {path}"),
    Kind.PROTON: InputFacts(
        "run",
        Kind.PROTON.value,
        "wavewright query {path} 'SELECT * FROM run.call_totals ORDER BY sum DESC'; proton-viewer draws the tree",
    ),
    Kind.EXECUTION_TRACE: InputFacts(
        None,
        "an execution trace (Chakra): operators and what they depend on, without work of GPUs",
        "open the trace that torch.profiler wrote beside it; to replay this one, use MLCommons Chakra or PARAM",
    ),
    Kind.NSYS: InputFacts(
        None,
        Kind.NSYS.value,
        "use Nsight Systems (nsys stats, nsys-ui); to compare with an NVIDIA GPU, give its trace of torch.profiler",
    ),
    Kind.PLUGIN: InputFacts("run", Kind.PLUGIN.value, _RUN),
    Kind.KERNEL_TRACE: InputFacts("run", Kind.KERNEL_TRACE.value, _RESOURCES),
    Kind.CSV_TRACE: InputFacts("run", Kind.CSV_TRACE.value, _RUN),
    Kind.PACKAGE: InputFacts("run", Kind.PACKAGE.value, _RUN),
    Kind.RUN_TABLES: InputFacts("run", Kind.RUN_TABLES.value, _RUN),
    Kind.RUN_FOLDER: InputFacts("run", Kind.RUN_FOLDER.value, _RUN),
    Kind.COUNTERS: _COUNTERS,
    Kind.ROCPROF_COUNTERS: _COUNTERS,
    Kind.COMPUTE_DATABASE: _COUNTERS,
    Kind.STATISTICS: InputFacts(
        None,
        "statistics of a run",
        "`wavewright summary` of the *_trace.csv files of the same folder computes these figures and more",
    ),
    Kind.AGENTS: InputFacts(
        None,
        "a list of agents",
        "pass it as --resources with a decoded trace, or open the *_trace.csv files of the same folder",
    ),
    Kind.DATABASE: InputFacts(
        None, "a database of an unknown program", "pass one that rocprofv3, rocprof or RPD wrote"
    ),
    Kind.BROKEN_DATABASE: InputFacts(None, "a database without tables", "record again: the recording did not finish"),
    Kind.CODE_OBJECT: InputFacts(
        None,
        "a code object",
        "`wavewright info {path}` lists its kernels; open the folder with its .att files to see them run",
    ),
    Kind.STORE: InputFacts(None, "a store of captures", "wavewright store list {path}, or wavewright open {path}"),
    Kind.UNKNOWN: InputFacts(
        None,
        Kind.UNKNOWN.value,
        "pass thread traces (*.att, ui_output_*), runs (ROCpd, RPD, rocprofv3 CSV, JSON) or counters (pmc_perf.csv, "
        "*_counter_collection.csv)",
    ),
}


def _kinds_of(document: str) -> tuple[Kind, ...]:
    return tuple(kind for kind, facts in INPUTS.items() if facts.document == document)


THREAD_TRACES = _kinds_of("trace")
RUNS = _kinds_of("run")  #: Files of counters may contain a run, too.
COUNTER_CAPTURES = _kinds_of("counters")
COUNTER_TABLES = (Kind.COUNTERS, Kind.ROCPROF_COUNTERS)  #: Kinds of tables with hardware counters per dispatch.
STORES_OF_COUNTERS = (Kind.ROCPD, Kind.RESULTS)  #: Kinds of runs that may contain hardware counters, too.
