"""The kinds of input: what each is called, as which document it is opened, and how a path is recognised (`sniff`).

The content of a file decides which kind it is; its name only breaks ties. Titles are in `Kind`, documents and advice in
inputs.toml; the rules of recognition stand here, before the function that applies them.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from wavewright.base.compression import packing_of, without_packing
from wavewright.base.files import NO_FILE, open_regular
from wavewright.base.plugins import reader_suffix
from wavewright.base.shown import quoted
from wavewright.base.toml import packaged
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.model.baseline import STORE_MARK
from wavewright.model.document import DOCUMENTS
from wavewright.model.stored_tables import MANIFEST, RUN_MANIFEST
from wavewright.readers.files.archive import is_archive, is_raw_name, traces_in
from wavewright.readers.files.decoded_traces import form_of, survey
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.rocprofv3_columns import header_of, is_counter_column, layout_of
from wavewright.readers.files.runs import PACKAGE_INDEX, XPLANE_SUFFIX, is_named_like_database, run_files
from wavewright.readers.files.sqlite import table_names, why_unreadable
from wavewright.readers.files.text import SQLITE, head_of
from wavewright.readers.files.tinygrad_profile import is_tinygrad_profile


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
    description: str  #: What errors call it.
    advice: str  #: With `{path}`.


#: All that is known about the kinds of input: the only such table.
INPUTS = {
    Kind[name]: InputFacts(row.get("document"), row.get("description", Kind[name].value), row["advice"])
    for name, row in packaged("inputs.toml", __package__).items()
}


def _kinds_of(document: str) -> tuple[Kind, ...]:
    return tuple(kind for kind, facts in INPUTS.items() if facts.document == document)


THREAD_TRACES = _kinds_of("trace")
RUNS = _kinds_of("run")  #: Files of counters may contain a run, too.
COUNTER_CAPTURES = _kinds_of("counters")
COUNTER_TABLES = (Kind.COUNTERS, Kind.ROCPROF_COUNTERS)  #: Kinds of tables with hardware counters per dispatch.
STORES_OF_COUNTERS = (Kind.ROCPD, Kind.RESULTS)  #: Kinds of runs that may contain hardware counters, too.


def advice_for(kind: Kind, path: Path) -> str:
    """Advice for an input of this kind."""
    reason = why_unreadable(path) if kind is Kind.BROKEN_DATABASE else ""
    return reason or INPUTS[kind].advice.format(path=quoted(path))


def title_of(kind: Kind, path: Path) -> str:
    """Title of an input: the kind, and of Chrome traces those that PyTorch wrote."""
    if kind is Kind.CHROME and path.is_file():
        with open_regular(path) as stream:
            head = head_of(stream.read(_HEAD_BYTES))
        if _PYTORCH_SIGNS.search(head):
            return "PyTorch (Kineto) trace"
    return kind.value


def misfit(kind: Kind, path: Path, document: str) -> NotATraceError:
    """The error for an input that is not the document that a verb needs: what it is, and what reads it."""
    problem = title_of(kind, path) if kind is Kind.CHROME else INPUTS[kind].description
    if kind is Kind.BROKEN_DATABASE:
        return NotATraceError(why_unreadable(path) or problem, where=str(path), advice=INPUTS[kind].advice)
    if kind is not Kind.UNKNOWN:
        problem += f", not {DOCUMENTS[document]}"
    return NotATraceError(problem, where=str(path), advice=advice_for(kind, path))


def document_at(path: Path) -> str | None:
    """The kind of document at a path, one of `DOCUMENTS`; None = nothing that can be opened."""
    try:
        return INPUTS[sniff(path)].document
    except (WavewrightError, OSError, ValueError):
        return None


class Generation(Enum):
    """Generation of a raw buffer, from its first eight bytes; the value names the GPUs."""

    GFX9 = "gfx9 (MI100, MI200, MI300, MI350)"
    GFX10 = "gfx10 (RDNA1, RDNA2)"
    GFX11 = "gfx11 (RDNA3)"
    GFX12 = "gfx12 (RDNA4)"
    GFX1250 = "gfx1250"
    NEWER = "a thread trace of an unknown generation"
    NONE = "not a thread trace"


#: How an RDNA HEADER token and the gfx9 software header start: the low 7 bits of the first byte.
_HEADER_PREFIX, _PREFIX_BITS = 0x11, 0x7F


def generation_of(head: bytes) -> Generation:
    """The generation that wrote a buffer which starts with `head` (8 bytes are enough).

    >>> generation_of(b"SQLite format 3")
    <Generation.NONE: 'not a thread trace'>
    """
    from wavewright import _core

    name = _core.generation_of(head)
    if name is not None:
        return Generation[name]
    is_newer = len(head) >= 8 and head[0] & _PREFIX_BITS == _HEADER_PREFIX
    return Generation.NEWER if is_newer else Generation.NONE


def sniff(path: Path, inventory: Inventory | None = None) -> Kind:
    """The kind of a file or folder. Raises `UsageError` when the path does not exist or cannot be read."""
    listings = inventory or Inventory()
    if path in listings.kinds:
        return Kind(listings.kinds[path])
    if not path.exists():
        raise UsageError("no such file or folder", where=str(path))
    if not path.is_dir() and not path.is_file():
        raise UsageError(NO_FILE, where=str(path))  # a pipe or device would be waited for, or never end
    try:
        kind = _sniff_folder(path, listings) if path.is_dir() else _sniff_file(path, listings)
        if kind is Kind.ARCHIVE:
            kind = _sniff_archive(path, listings)
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path)) from error
    listings.kinds[path] = kind
    return kind


# --- folders ---
_FILES_LOOKED_AT = 64  #: The first so many files of a folder tell its kind.
_SYSTEM = "sysinfo.csv"
#: Files of a workload of ROCm Compute Profiler: its passes, the pass of a level counter, and the one without counters.
_WORKLOAD = re.compile(r"pmc_perf(_\w+)?\.csv(\.gz)?")
_LEVEL_PASS = re.compile(r"SQC?_\w*\.csv(\.gz)?")
_TIMES_OF_WORKLOAD = "timestamps.csv"
#: Kinds that make a folder without runs what it is, the first of them that is there.
_OTHERS_IN_FOLDERS = (
    Kind.BROKEN_DATABASE, Kind.COUNTERS, Kind.ROCPROF_COUNTERS, Kind.COMPUTE_DATABASE, Kind.AGENTS, Kind.STATISTICS,
    Kind.DATABASE,
)  # fmt: skip


def _sniff_folder(folder: Path, listings: Inventory) -> Kind:
    """The kind of a folder: by its own manifest, else by the traces below it, else by the runs and counters in it.

    Traces decide before runs and counters, which lie beside them in many captures: verbs about these look there, too.
    """
    names = set(listings.names(folder))
    form = form_of(names)
    if form:
        return Kind.UI_OUTPUT if form == "ui_output" else Kind.PARQUET
    if RUN_MANIFEST in names:
        return Kind.RUN_TABLES
    if STORE_MARK in names:
        return Kind.STORE
    if {"manifest.json", "samples"} <= names:
        with open_regular(folder / "manifest.json") as stream:
            if b'"rocke.bench.artifacts/' in stream.read(_HEAD_BYTES):
                return Kind.COUNTERS
    below = survey(folder, listings)
    if below.has_raw:
        return Kind.RAW_CAPTURE
    if below.decoded:
        return Kind.DECODED_FOLDER
    if below.archives:
        return Kind.ARCHIVE_FOLDER
    if "code.json" in names:
        return Kind.UI_OUTPUT  # all that some people copy: it has the sums per instruction
    if PACKAGE_INDEX in names and folder.suffix == ".rpdb":
        return Kind.PACKAGE
    if any(_WORKLOAD.fullmatch(name) or (_LEVEL_PASS.fullmatch(name) and _SYSTEM in names) for name in names):
        return Kind.COUNTERS
    files = (file for file in run_files(folder, listings) if file.is_file())
    # A workload of ROCm Compute Profiler has a pass without counters that looks like a trace of kernels.
    runs = (file for file in files if file.name != _TIMES_OF_WORKLOAD or not file.with_name(_SYSTEM).is_file())
    kinds = {_sniff_file(file, listings) for file in islice(runs, _FILES_LOOKED_AT)}
    if Kind.SAMPLES in kinds:
        return Kind.SAMPLES  # the run and the counters beside them are read by the verbs about runs and counters
    if kinds & set(RUNS):
        return Kind.RUN_FOLDER
    return next((kind for kind in _OTHERS_IN_FOLDERS if kind in kinds), Kind.UNKNOWN)


def _sniff_archive(path: Path, listings: Inventory) -> Kind:
    """An archive without thread traces is what its folder would be."""
    if traces_in(path) == "decoded":
        return Kind.ARCHIVE
    try:
        unpacked = listings.unpacked(path)
    except WavewrightError:
        return Kind.ARCHIVE  # opening it says why
    kind = _sniff_folder(unpacked.folder, listings) if unpacked and unpacked.folder.is_dir() else Kind.UNKNOWN
    return kind if kind in (*RUNS, *COUNTER_CAPTURES, Kind.SAMPLES) else Kind.ARCHIVE


# --- files by their first bytes ---
_HEAD_BYTES = 1 << 16  #: The first so many bytes of a file tell its kind.
_PACKED_HEAD_BYTES = 4 << 16  #: Of a packed file: a block of Zstandard, which unpacks as a whole, has up to 128 KiB.
_SIGN_BYTES = 64  #: Signs of binary formats are within these.
#: ELF, the bundle of clang, the same compressed, and an archive of objects.
_CODE_OBJECTS = (b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"!<arch>\n")
#: How files of frameworks start: kinds that content tells apart from Chrome traces and captures of tinygrad. Pickles
#: start with 0x80; a Chakra trace starts with the length of its metadata, whose first field is the text "schema".
_FRAMEWORK_SIGNS = {
    Kind.MEMORY_SNAPSHOT: re.compile(rb"(?s)\x80(?=.*segments)(?=.*(?:total_size|device_traces))"),
    Kind.FLIGHT_RECORDER: re.compile(
        rb'(?s)\x80(?!.*tinygrad)(?=.*(?:pg_config|profiling_name))|\s*\{(?=.*"(?:pg_config|pg_status)")(?!.*"traceEvents")'
    ),
    Kind.COLLECTIVE_LOG: re.compile(
        rb'(?s)\s*\{\s*"header"\s*:\s*\{(?=.*"(?:n_ranks|coll_perf|p2p_perf)")'
        rb"|(?=.{0,2000}?[^\s:]:\d{1,10}:\d{1,10} \[\d{1,4}\][^\n]{0,40} NCCL (?:INFO|WARN|VERSION) )"
    ),
    Kind.PROTON: re.compile(rb'(?s)\s*\[\s*\{(?=.*"frame")(?=.*"metrics")(?=.*"children")(?!.*"ph")'),
    Kind.EXECUTION_TRACE: re.compile(
        rb'(?s)\s*\{\s*"schema"\s*:\s*"\d(?=.*"nodes")|\s*\{\s*"workload_graph"|[\x01-\x7f](?:.{0,4})\n\x06schema'
    ),
}
_SUFFIX_KINDS = {".et": Kind.EXECUTION_TRACE, ".nsys-rep": Kind.NSYS, ".qdrep": Kind.NSYS, ".hatchet": Kind.PROTON}
#: The first plane of a file of JAX: its length, perhaps its number, and its name.
_XPLANE = re.compile(rb"\n[\x00-\xff]{1,10}?(?:\x08[\x00-\xff]{1,10}?)?\x12.(?:/host:|/device:|Task Env)", re.DOTALL)
_PERFETTO_SUFFIXES = (".pftrace", ".perfetto-trace")
#: Fields that the first packet of a Perfetto trace may start with, by their numbers in Perfetto's trace_packet.proto.
_NUMBER_FIELDS = (3, 8, 10, 13)  # trusted_uid, timestamp, trusted_packet_sequence_id, sequence_flags
# clock_snapshot, track_event, interned_data, trace_config, trace_stats, compressed_packets, trace_packet_defaults,
# track_descriptor, trace_uuid
_MESSAGE_FIELDS = (6, 11, 12, 33, 35, 50, 59, 60, 89)


def _field_key(number: int, wire_type: int) -> bytes:
    """The bytes before a field in protobuf: its number and wire type (0 = number, 2 = bytes) as base-128 number."""
    key = number << 3 | wire_type
    return bytes([key]) if key < 0x80 else bytes([key & 0x7F | 0x80, key >> 7])


_FIELD_KEYS = [*(_field_key(number, 0) for number in _NUMBER_FIELDS), *(_field_key(n, 2) for n in _MESSAGE_FIELDS)]
#: A packet, which is field 1 of a trace: its key, its length as base-128 number, and the key of its first field.
_PACKET = re.compile(rb"\n[\x80-\xff]{0,4}[\x01-\x7f](?:" + b"|".join(map(re.escape, _FIELD_KEYS)) + b")")
_TEXT = re.compile(rb"[\t\n\r\x20-\x7e]*")  #: An empty line and a sentence can look like a packet.


def _sniff_file(file: Path, listings: Inventory) -> Kind:
    """The kind of a file.

    Signs that no other format has come first, then those that two formats may share, then text, which anything may be;
    a plugin gets what is left.
    """
    with open_regular(file) as stream:
        head = stream.read(_HEAD_BYTES)
        if packing_of(head):
            head += stream.read(_PACKED_HEAD_BYTES - _HEAD_BYTES)
    # By its name too: a database whose start is damaged is reported as one.
    if head_of(head).startswith(SQLITE) or is_named_like_database(file.name):
        return _sniff_database(file)
    if head_of(head, _SIGN_BYTES).startswith(_CODE_OBJECTS):
        return Kind.CODE_OBJECT
    if is_raw_name(file.name) or is_tinygrad_profile(file.name, head):
        return Kind.RAW_CAPTURE
    framework = next((kind for kind, sign in _FRAMEWORK_SIGNS.items() if sign.match(head_of(head))), None)
    if framework or file.suffix in _SUFFIX_KINDS:
        return framework or _SUFFIX_KINDS[file.suffix]
    start = head_of(head, _SIGN_BYTES)
    if without_packing(file.name).endswith(XPLANE_SUFFIX) or _XPLANE.match(start):
        return Kind.XPLANE
    # Any two bytes can look like the gfx9 header, so without the suffix only the full prefix counts.
    if generation_of(head) not in (Generation.NONE, Generation.NEWER) and head[0] & _PREFIX_BITS == _HEADER_PREFIX:
        return Kind.RAW_CAPTURE
    if is_archive(file):
        return Kind.RAW_CAPTURE if traces_in(file) == "raw" else Kind.ARCHIVE
    if file.suffix == ".json" and form_of(listings.names(file.absolute().parent)) == "ui_output":
        return Kind.UI_OUTPUT  # a file of a decoded directory stands for the directory
    is_packet = _PACKET.match(start) and not _TEXT.fullmatch(start)
    if is_packet or (without_packing(file.name).endswith(_PERFETTO_SUFFIXES) and start.startswith(b"\n")):
        return Kind.PERFETTO
    is_table = file.suffix in (".parquet", ".arrow") or file.name == RUN_MANIFEST
    if is_table and file.with_name(RUN_MANIFEST).is_file():
        return Kind.RUN_TABLES
    if file.suffix == ".parquet" or file.name == MANIFEST:
        return Kind.PARQUET if (file.absolute().parent / MANIFEST).is_file() else Kind.UNKNOWN
    kind = _sniff_text(head)
    return Kind.PLUGIN if kind is Kind.UNKNOWN and reader_suffix(file.name) else kind


# --- databases by their tables, and texts by their keys and columns ---
_COMPUTE_TABLES = {"compute_workload", "compute_kernel"}
_ROCPROF_TABLES = {"KERN", "OPS", "HIP", "HSA", "COPY"}
#: Layout of a CSV file of rocprofv3 -> its kind; all others are traces of calls.
_CSV_KINDS = {
    "counters": Kind.COUNTERS, "dispatches": Kind.KERNEL_TRACE, "agents": Kind.AGENTS, "samples": Kind.SAMPLES,
}  # fmt: skip
_STATISTICS_COLUMNS = {"name", "calls", "totaldurationns"}
_ROCPROF_COLUMNS = {"index", "kernelname", "gpu-id"}
_RESULTS_KEY, _RESULTS_KEY_BYTES = b'"rocprofiler-sdk-tool"', 200  #: The first key of results; it is in these bytes.
#: Keys of a Chrome trace, and of an event of one that is only a list; PyTorch writes the last two before its events.
_CHROME_KEYS = (b'"traceEvents"', b'"deviceProperties"', b'"traceName"')
_EVENT_KEYS = (b'"ph":', b'"ph" :')
#: Keys and categories that PyTorch alone writes.
_PYTORCH_SIGNS = re.compile(
    rb'"(?:deviceProperties|baseTimeNanoseconds|distributedInfo|cpu_op|python_function|user_annotation|(?:cuda|hip)_runtime)"'
)


def _sniff_database(file: Path) -> Kind:
    """The kind of a database, by the names of its tables."""
    try:
        names = table_names(file)
    except (NotATraceError, OSError, EOFError):
        return Kind.BROKEN_DATABASE
    if not names:
        return Kind.BROKEN_DATABASE  # the recording ended before it wrote anything
    if "rocpd_op" in names:
        return Kind.RPD  # which has a table rocpd_metadata, too
    if any(name.startswith("rocpd_metadata") for name in names):
        return Kind.ROCPD
    if names >= _COMPUTE_TABLES:
        return Kind.COMPUTE_DATABASE
    if "StringIds" in names and any(name.startswith(("CUPTI_", "TARGET_INFO_", "NVTX_")) for name in names):
        return Kind.NSYS
    return Kind.ROCPROF_DATABASE if names & _ROCPROF_TABLES else Kind.DATABASE


def is_call_totals(head: bytes) -> bool:
    """True if a file starts like call totals of rocprof-sys.

    >>> is_call_totals(b'{"timemory": {"wall_clock": {')
    True
    """
    table = head.lstrip()
    is_table = table.startswith(b"|--") and b" LABEL " in table and b" DEPTH " in table and b" METRIC " in table
    return is_table or (table.startswith(b"{") and b'"timemory"' in table[:200])


def _sniff_text(head: bytes) -> Kind:
    """The kind of a text: JSON by its keys, tables by the columns of their header."""
    text = head_of(head).removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_call_totals(text):
        return Kind.CALL_TOTALS
    if text.startswith((b"{", b"[")):
        return _sniff_json(text)
    header = header_of(head)
    layout = layout_of(header)
    if layout:
        return _CSV_KINDS.get(layout.name, Kind.CSV_TRACE)
    if set(header) >= _STATISTICS_COLUMNS:
        return Kind.STATISTICS
    has_counters = any(map(is_counter_column, header))
    if set(header) >= _ROCPROF_COLUMNS:
        return Kind.ROCPROF_CSV if "beginns" in header and not has_counters else Kind.ROCPROF_COUNTERS
    if has_counters or "counter_name" in header:
        return Kind.COUNTERS
    return Kind.KERNEL_TRACE if "vgpr_count" in header else Kind.UNKNOWN


def _sniff_json(text: bytes) -> Kind:
    if _RESULTS_KEY in text[:_RESULTS_KEY_BYTES]:
        return Kind.RESULTS
    keys = _CHROME_KEYS if text.startswith(b"{") else _EVENT_KEYS
    return Kind.CHROME if any(key in text for key in keys) else Kind.UNKNOWN
