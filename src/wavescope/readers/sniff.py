"""What is this path? Decided by content; the name only breaks ties."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UsageError
from wavescope.model.stored import MANIFEST
from wavescope.readers._sqlite import MAGIC, Database
from wavescope.readers.archive import is_archive
from wavescope.readers.decoded import form_of, survey

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PROFILES", "THREAD_TRACES", "Generation", "Kind", "generation_of", "sniff"]


class Kind(Enum):
    """The kinds of input that wavescope can tell apart; the value is how to call them.

    Examples
    --------
    >>> Kind.RAW_CAPTURE.value
    'raw thread-trace capture'
    """

    RAW_CAPTURE = "raw thread-trace capture"
    UI_OUTPUT = "decoded thread trace (ui_output directory)"
    PARQUET = "wavescope Parquet directory"
    DECODED_FOLDER = "folder of decoded thread traces"
    ARCHIVE = "archive"
    ARCHIVE_FOLDER = "folder of archives"
    COUNTERS = "hardware counters (CSV)"
    KERNEL_TRACE = "rocprofv3 kernel trace (CSV)"
    AGENTS = "rocprofv3 agent list (CSV)"
    RESULTS = "rocprofv3 results (JSON)"
    ROCPD = "ROCpd database"
    RPD = "RPD database"
    ROCPROF_DATABASE = "rocprof (v1) database"
    DATABASE = "SQLite database"
    CODE_OBJECT = "GPU code object (ELF)"
    UNKNOWN = "nothing wavescope knows"


THREAD_TRACES = (
    Kind.RAW_CAPTURE,
    Kind.UI_OUTPUT,
    Kind.PARQUET,
    Kind.DECODED_FOLDER,
    Kind.ARCHIVE,
    Kind.ARCHIVE_FOLDER,
)
"""Kinds that hold thread traces, or may hold some."""

PROFILES = (Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE, Kind.RESULTS, Kind.KERNEL_TRACE)
"""Kinds that hold profiles of a run."""


class Generation(Enum):
    """What the first eight bytes of a raw buffer say; the value names the GPUs.

    Examples
    --------
    >>> generation_of(bytes.fromhex("1180000000000000"))
    <Generation.GFX9: 'gfx9 (MI100, MI200, MI300, MI350)'>
    """

    GFX9 = "gfx9 (MI100, MI200, MI300, MI350)"
    GFX10 = "gfx10 (RDNA1, RDNA2)"
    GFX11 = "gfx11 (RDNA3)"
    GFX12 = "gfx12 (RDNA4)"
    GFX1250 = "gfx1250"
    NEWER = "a thread trace of an unknown generation"
    NONE = "not a thread trace"


_RDNA_VERSIONS = {
    1: Generation.GFX10,
    2: Generation.GFX10,
    3: Generation.GFX11,
    4: Generation.GFX12,
    5: Generation.GFX1250,
}
_HEADER_PREFIX = 0x11  # low 7 bits of an RDNA HEADER token, and of the gfx9 software header


def generation_of(head: bytes) -> Generation:
    """Which generation wrote a buffer that begins with `head` (8 bytes are enough).

    Examples
    --------
    >>> generation_of(b"SQLite format 3")
    <Generation.NONE: 'not a thread trace'>
    """
    if len(head) < 8:
        return Generation.NONE
    word = int.from_bytes(head[:8], "little")
    legacy, gfx9_version = word & 0x1FFF, word >> 13 & 7
    if legacy in (0, _HEADER_PREFIX) and 4 <= gfx9_version <= 6:
        return Generation.GFX9
    known = _RDNA_VERSIONS.get(word >> 7 & 0x3F) if legacy else None
    if known is not None:
        return known
    return Generation.NEWER if word & 0x7F == _HEADER_PREFIX else Generation.NONE


def sniff(path: Path) -> Kind:
    """The kind of a file or folder.

    Raises
    ------
    UsageError
        When the path does not exist or cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> sniff(Path("/nowhere"))
    Traceback (most recent call last):
    wavescope.errors.UsageError: /nowhere: no such file or folder
    """
    if not path.exists():
        what = "no such file or folder"
        raise UsageError(what, where=str(path))
    if not path.is_dir() and not path.is_file():
        what = "neither a file nor a folder"  # a pipe or device would be waited for, or never end
        raise UsageError(what, where=str(path))
    try:
        return _sniff_folder(path) if path.is_dir() else _sniff_file(path)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise UsageError(what, where=str(path)) from error


def _sniff_folder(folder: Path) -> Kind:
    names = {entry.name for entry in folder.iterdir()}
    own = form_of(names)
    if own:
        return Kind.UI_OUTPUT if own == "ui_output" else Kind.PARQUET
    below = survey(folder)
    if below.has_raw:
        return Kind.RAW_CAPTURE
    if below.decoded:
        return Kind.DECODED_FOLDER
    if below.archives:
        return Kind.ARCHIVE_FOLDER
    if _CODE in names:
        return Kind.UI_OUTPUT  # all that some people copy: it has the sums per instruction
    kinds = {_sniff_file(table) for table in below.tables[:_TABLES_LOOKED_AT]}
    return next((kind for kind in _CSV_KINDS if kind in kinds), Kind.UNKNOWN)


_CODE = "code.json"
_TABLES_LOOKED_AT = 32
_HEAD_OF_RESULTS = 200
_CSV_KINDS = {
    Kind.COUNTERS: (b"Counter_Name", b"TCC_", b"SQ_WAVES"),
    Kind.KERNEL_TRACE: (b"VGPR_Count", b"Start_Timestamp"),
    Kind.AGENTS: (b"Gfx_Target_Version",),
}
"""CSV files by the columns that only they have, in the order in which a folder is called after them."""


def _sniff_file(file: Path) -> Kind:
    with file.open("rb") as stream:
        head = stream.read(1 << 16)
    if head.startswith(MAGIC) or _inflated(head).startswith(MAGIC):
        return _sniff_database(file)
    if head.startswith(b"\x7fELF"):
        return Kind.CODE_OBJECT
    if file.suffix == ".att":
        return Kind.RAW_CAPTURE
    # Any two bytes can look like the gfx9 header, so without the suffix only the full prefix counts.
    if generation_of(head) not in (Generation.NONE, Generation.NEWER) and head[0] & 0x7F == _HEADER_PREFIX:
        return Kind.RAW_CAPTURE
    if is_archive(file):
        return Kind.ARCHIVE
    if file.suffix == ".json" and form_of([entry.name for entry in file.absolute().parent.iterdir()]) == "ui_output":
        return Kind.UI_OUTPUT  # a file of a decoded directory stands for the directory
    if file.suffix == ".parquet" or file.name == MANIFEST:
        return Kind.PARQUET if (file.absolute().parent / MANIFEST).is_file() else Kind.UNKNOWN
    return _sniff_text(head)


def _sniff_database(file: Path) -> Kind:
    """Told by its tables."""
    try:
        database = Database(file)
    except NotATraceError:
        return Kind.DATABASE
    names = set(database.tables)
    database.close()
    if "rocpd_op" in names:
        return Kind.RPD
    if any(name.startswith("rocpd_metadata") for name in names):
        return Kind.ROCPD
    return Kind.ROCPROF_DATABASE if names & {"KERN", "OPS", "HIP", "HSA", "COPY"} else Kind.DATABASE


def _sniff_text(head: bytes) -> Kind:
    text = _inflated(head)
    columns = text.split(b"\n", 1)[0]
    if text.lstrip().startswith(b"{"):
        return Kind.RESULTS if b'"rocprofiler-sdk-tool"' in text[:_HEAD_OF_RESULTS] else Kind.UNKNOWN
    if b"," in columns:
        for kind, words in _CSV_KINDS.items():
            if any(word in columns for word in words):
                return kind
    return Kind.UNKNOWN


def _inflated(head: bytes) -> bytes:
    """The beginning of a gzip file's content; other bytes as they are."""
    import zlib

    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, 1 << 16)
    except zlib.error:
        return b""
