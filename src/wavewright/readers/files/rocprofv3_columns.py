"""The CSV files that rocprofv3 and its converters write: the columns of each table, and their reader.

Files are told apart by their header, and columns are found by name without regard to case: generations of the tools
differ in order, spelling and completeness.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

import polars as pl

from wavewright.base.compression import packing_of, without_packing
from wavewright.base.files import open_regular
from wavewright.base.shown import is_text
from wavewright.errors import NotATraceError
from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.model.losses import Loss
from wavewright.readers.files.text import head_of, text_bytes

_FILE = re.compile(
    r"(?:(.*)_)?(?:(?:agent_info|counter_collection|pc_sampling_host_trap|pc_sampling_stochastic|domain_stats"
    r"|(?:kernel|memory_copy|memory_allocation|scratch_memory|regions?"
    r"|(?:marker|hip|hsa|rccl|rocdecode|rocjpeg|ompt|kfd)"
    r"(?:_(?:api|runtime|compiler?|core|amd|ext|image|finalize|range|control|name|events?))*)"
    r"(?:_trace|_stats)?)\.csv|results\.(?:db|json|csv|pftrace|hip_stats\.csv|stats\.csv))",
    re.IGNORECASE,
)
#: Files of rocprof-sys: the kind of output, and the process.
_OF_ROCPROF_SYS = re.compile(r"(?:rocpd|perfetto-trace|wall_clock)-(.+)\.(?:db|proto|json|txt)")
_COUNTER = re.compile(r"(sqc?|spi|t[acd]|tc[acp]|grbm|cp[cfg]|gl[12][ac]|gcea|ea)_[a-z0-9_]+(\[\d+\])?$")
_HEADER_BYTES = 1 << 16
_PIECE = 1 << 20


class Layout(Fact, frozen=True):
    """One kind of file: what tells it, and its columns as ours -> type and the names that it may have there."""

    name: str
    signs: tuple[tuple[str, ...], ...]  #: Sets of columns: a header with all of one set is of this kind.
    required: tuple[str, ...]
    columns: dict[str, tuple[str, tuple[str, ...]]]
    shares: tuple[str, ...] = ()  #: Groups of columns (`shared` in the TOML file) that it has as well.


@cache
def layouts() -> tuple[Layout, ...]:
    """The kinds of files, in the order in which a header is compared with them."""
    declared = packaged("rocprofv3_columns.toml")
    rows = []
    for row in declared["layouts"]:
        groups = (declared["shared"][group].items() for group in row.get("shares", ()))
        rows.append(row | {"columns": dict(chain(*groups, row.get("columns", {}).items()))})
    return decoded(rows, tuple[Layout, ...], where="rocprofv3_columns.toml")


def run_of(name: str) -> str:
    """Common start of the names of the files of a run; the whole stem where a name is not of rocprofv3's kind.

    >>> run_of("decode_hip_api_trace.csv"), run_of("908_kernel_trace.csv.gz"), run_of("908_results.db")
    ('decode', '908', '908')
    """
    plain = without_packing(name)
    match = _FILE.fullmatch(plain) or _OF_ROCPROF_SYS.fullmatch(plain)
    return (match[1] or "") if match else plain.rpartition(".")[0] or name


def names_of(head: bytes) -> list[str]:
    """The names of the columns as they are written, from the start of a file; empty = not a CSV file.

    >>> names_of(b'"Kind","Agent_Id"' + bytes([10]) + b'"KERNEL_DISPATCH",1')
    ['Kind', 'Agent_Id']
    """
    line = head_of(head, _HEADER_BYTES).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    return [] if b"\0" in line or b"," not in line else [name.strip() for name in _fields(line)]


def header_of(head: bytes) -> list[str]:
    """The names of the columns in lower case: generations of the tools differ in capitals."""
    return [name.lower() for name in names_of(head)]


def is_counter_column(name: str) -> bool:
    """True if a column, in small letters, is a hardware counter: in the wide form, every counter has one.

    >>> is_counter_column("tcc_hit[3]"), is_counter_column("kernel_name")
    (True, False)
    """
    return _COUNTER.match(name) is not None


def layout_of(header: list[str]) -> Layout | None:
    """The kind of file that has these columns; None = none that is read here.

    >>> layout_of(["domain", "function", "start_timestamp", "end_timestamp"]).name
    'regions'
    """
    if any(map(is_counter_column, header)):
        return None  # the wide form of counters, which repeats the dispatches in each of its files
    for layout in layouts():
        has_required = all(_position(header, layout.columns[name][1]) is not None for name in layout.required)
        if has_required and any(set(header).issuperset(signs) for signs in layout.signs):
            return layout
    return None


def read_table(file: Path, layout: Layout, losses: list[Loss]) -> pl.DataFrame:
    """The rows of a file in our names and types; rows without what the layout requires become a loss.

    Columns that the file lacks are not in the frame. Raises `NotATraceError` when it is not a table.
    """
    with open_regular(file) as stream:
        head = stream.read(_HEADER_BYTES)
    data = text_bytes(file) if packing_of(head) or not is_text(file) else file
    header = header_of(head)
    last = _open_line(data)
    if last:
        losses.append(Loss("cut_file", detail=file.name))
    # Polars (2.1) would panic at an open quote, and take half a number for a whole.
    cut_bytes = len(last) if last.count(b'"') % 2 == 1 or len(_fields(last)) < len(header) else 0
    complete_data = (data if isinstance(data, bytes) else text_bytes(data))[:-cut_bytes] if cut_bytes else data
    possible = {ours: _position(header, theirs) for ours, (_, theirs) in layout.columns.items()}
    positions = {ours: position for ours, position in possible.items() if position is not None}
    dtypes = {ours: getattr(pl, layout.columns[ours][0]) for ours in positions}
    row_count = _row_count(data, head)
    sound = _columns_of(file, complete_data, positions, dtypes, len(header)).drop_nulls(layout.required)
    if sound.height + _line_breaks(sound) < row_count:  # perhaps whole numbers were written with a fraction
        texts = {ours: pl.String if dtype == pl.Int64 else dtype for ours, dtype in dtypes.items()}
        as_strings = _columns_of(file, complete_data, positions, texts, len(header))
        numbers = [ours for ours, dtype in dtypes.items() if dtype == pl.Int64]
        whole_part = pl.col(numbers).str.extract(r"^\s*(-?\d+)(?:\.\d*)?\s*$").cast(pl.Int64, strict=False)
        sound = as_strings.with_columns(whole_part).drop_nulls(layout.required)
    loss_count = row_count - sound.height - _line_breaks(sound)
    if loss_count > 0:
        losses.append(Loss("malformed_events", loss_count, detail=file.name))
    return sound


def _open_line(data: bytes | Path) -> bytes:
    """The last line where it has no end: programs that write such files end every line."""
    if isinstance(data, bytes):
        tail = data[-_HEADER_BYTES:]
    else:
        with open_regular(data) as stream:
            stream.seek(max(0, data.stat().st_size - _HEADER_BYTES))
            tail = stream.read()
    line = tail[tail.rfind(b"\n") + 1 :]
    return b"" if len(line) == len(tail) else line


def _fields(line: bytes) -> list[str]:
    """The fields of a line; none where it is not a line of CSV."""
    try:
        return next(csv.reader([line.decode("utf-8", "replace").strip()]), [])
    except csv.Error:
        return []


def _position(header: list[str], names: tuple[str, ...]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _columns_of(
    file: Path, data: bytes | Path, places: Mapping[str, int], dtypes: Mapping[str, type[pl.DataType]], width: int
) -> pl.DataFrame:
    """Columns by our names, from their positions in the file."""
    raw = _parsed(file, data, {at: dtypes[ours] for ours, at in places.items()}, width)
    return raw.select(pl.col(f"column_{at + 1}").alias(ours) for ours, at in places.items())


def _parsed(file: Path, data: bytes | Path, dtypes: Mapping[int, type[pl.DataType]], width: int) -> pl.DataFrame:
    """The columns at these positions; a value that is not of its type is null."""
    schema = {f"column_{at + 1}": dtypes.get(at, pl.String) for at in range(width)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it warns of is counted below
            return pl.read_csv(
                data,
                glob=False,  # a path may hold brackets: `run[1]` would be read from `run1`
                has_header=False,  # the first line says how many columns there are, however long the first row is
                columns=sorted(dtypes) or [0],
                schema=schema,
                ignore_errors=True,
                truncate_ragged_lines=True,
                encoding="utf8-lossy",
                raise_if_empty=False,
            ).slice(1)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        problem = f"cannot be read as CSV ({str(error).splitlines()[0][:120]})"
        raise NotATraceError(problem, where=str(file), advice="record again") from error


def _row_count(data: bytes | Path, head: bytes) -> int:
    """Lines behind the header that have something in them.

    The header may stand in the file again, where files of several processes were put together.
    """
    header = head_of(head, _HEADER_BYTES).replace(b"\r", b"").split(b"\n", 1)[0]
    count, partial_line = 0, b"\n"
    for piece in _pieces(data):
        text = partial_line + piece.replace(b"\r", b"")
        while b"\n\n" in text:
            text = text.replace(b"\n\n", b"\n")
        end = text.rfind(b"\n")
        count += text.count(b"\n", 0, end) - text.count(b"\n" + header + b"\n", 0, end + 1)
        partial_line = text[end:]
    return count + (partial_line.strip() not in (b"", header))


def _pieces(data: bytes | Path) -> Iterator[bytes]:
    with io.BytesIO(data) if isinstance(data, bytes) else open_regular(data) as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _line_breaks(frame: pl.DataFrame) -> int:
    """Line breaks inside of texts, which do not end rows."""
    total = 0
    for name, dtype in frame.schema.items():
        if dtype in (pl.String, pl.Categorical):
            breaks = pl.col(name).cast(pl.String).str.count_matches("\n", literal=True)
            total += int(frame[name].value_counts().select((breaks * pl.col("count")).sum()).item() or 0)
    return total
