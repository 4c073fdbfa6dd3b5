"""code.json: the static instructions, their stored costs, and their PC samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.model.losses import Loss
from wavewright.model.schema import SAMPLE_REASONS, THREAD_TRACE
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.chains import innermost_place
from wavewright.readers.trace.ui_output.parts import INTEGER_RANGES, load_json, readable, whole

FILE_NAME = "code.json"
#: Columns in their order when there is no header (spec_ui_output 4.1).
_COLUMNS = ("isa", "", "linenumber", "source", "codeobj", "vaddr", "hit", "latency", "stall", "idle")
_POSITIONS = {name: at for at, name in enumerate(_COLUMNS) if name}
#: Issued, stalled and reasons, as the two kinds of writers call them (spec_ui_output 4.2).
_SAMPLE_COLUMNS = (("pc_issued", "pc_stalled", "stall_reasons"), ("issued", "stalled", "notissuedreasons"))
_LEAST_COLUMNS = 6
_LONGEST_ENCODING_BYTES = 32
_Totals = tuple[int, int, int, int]


@dataclass(frozen=True)
class Label:
    """A label row: the name of the function that starts there."""

    name: str
    demangled: str
    code_object: int
    address: int


@dataclass
class CodeFile:
    """The rows of code.json without the labels, as lists; `table` makes the `code` table of them."""

    lines: list[int] = field(default_factory=list)  #: The id that wave files use, by row.
    positions: list[int] = field(default_factory=list)  #: The place in the file, by row.
    texts: list[str] = field(default_factory=list)
    chains: list[str | None] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)  #: (code object, address)
    functions: list[str | None] = field(default_factory=list)
    totals: list[_Totals] = field(default_factory=list)
    samples: list[tuple[int, int, int, int]] = field(default_factory=list)  #: (row, issued, stalled, 0)
    reasons: list[tuple[int, str, int]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    marker_rows: list[Any] = field(default_factory=list)  #: `sqtt_funcmap` as in the file.
    losses: list[Loss] = field(default_factory=list)
    has_sample_columns: bool = False

    @property
    def has_executions(self) -> bool:
        """True if the file records that any row was executed."""
        return any(totals[0] for totals in self.totals)

    def table(self, gfxip: int, target: str | None) -> pl.DataFrame:
        """The `code` table."""
        objects, addresses = zip(*self.places, strict=True) if self.places else ((), ())
        texts = {"text": self.texts, "function": self.functions, "inline_chain": self.chains}
        frame = pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String)).with_columns(
            pl.int_range(pl.len(), dtype=pl.Int32).alias("row"),
            pl.Series("code_object", objects, pl.UInt64),
            pl.Series("address", addresses, pl.UInt64),
            pl.col("text").str.split(" ").list.first().alias("mnemonic"),
            *innermost_place(),
        )
        frame = _classified(frame.with_columns(_sizes()), gfxip, target)
        frame = with_operands(frame, target or (f"gfx{gfxip}-generic" if gfxip else None))
        return frame.select(THREAD_TRACE["code"].casts)

    def stored_totals(self) -> pl.DataFrame:
        """The `stored_totals` table; empty when the writer left all of them 0."""
        columns = THREAD_TRACE["stored_totals"].names
        rows = [(row, *totals) for row, totals in enumerate(self.totals)] if any(map(any, self.totals)) else []
        schema = dict.fromkeys(columns, pl.Int64) | {"row": pl.Int32}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def sample_tables(self) -> dict[str, pl.DataFrame]:
        """The tables `samples` and `sample_reasons`; rows that were never seen are left out."""
        rows: dict[str, list[Any]] = {"samples": self.samples, "sample_reasons": self.reasons}
        return {name: pl.DataFrame(values, THREAD_TRACE[name].dtypes, orient="row") for name, values in rows.items()}


def read_code(folder: Folder) -> CodeFile:
    """Read code.json; what cannot be read becomes losses."""
    code = CodeFile()
    document = load_json(folder, FILE_NAME, code.losses)
    if document is None:
        return code
    if not isinstance(document, dict):
        code.losses.append(Loss("unreadable_json", detail=f"{FILE_NAME} is not a JSON object"))
        return code
    rows = document.get("code") or ()
    if not isinstance(rows, list | tuple):
        code.losses.append(Loss("unreadable_json", detail=f"{FILE_NAME} has no list of rows"))
        rows = ()
    markers = document.get("sqtt_funcmap")
    code.marker_rows = markers if isinstance(markers, list) else []
    _Rows(code, _columns(document.get("header"))).read(rows)
    return code


def _columns(header: object) -> dict[str, int]:
    """Column name in small letters -> position, from a header that is a list or one string."""
    names = header.split(",") if isinstance(header, str) else header if isinstance(header, list) else []
    positions = {name.strip().lower(): at for at, name in reversed(list(enumerate(names))) if isinstance(name, str)}
    return _POSITIONS | positions


class _Rows:
    """Reads rows into a `CodeFile`, keeping the function that the last label began."""

    def __init__(self, code: CodeFile, columns: dict[str, int]) -> None:
        self._code = code
        self._positions = columns
        self._function: tuple[str, int] | None = None
        self._sampling = next((names for names in _SAMPLE_COLUMNS if names[0] in columns), None)
        code.has_sample_columns = self._sampling is not None

    def read(self, rows: Sequence[object]) -> None:
        faults = 0
        for position, row in enumerate(rows):
            faults += not (isinstance(row, list) and len(row) >= _LEAST_COLUMNS and self._add(row))
            if len(self._code.lines) > len(self._code.positions):
                self._code.positions.append(position)
        if faults:
            self._code.losses.append(Loss("malformed_rows", faults, detail=FILE_NAME))
        repeated_count = len(self._code.lines) - len(set(self._code.lines))
        if repeated_count:
            self._code.losses.append(Loss("duplicate_rows", repeated_count))

    def _add(self, row: list[Any]) -> bool:
        text, source = self._value(row, "isa"), self._value(row, "source")
        line, code_object, address = (whole(self._value(row, name)) for name in ("linenumber", "codeobj", "vaddr"))
        if not isinstance(text, str) or not isinstance(source, str | None):
            return False
        if line is None or code_object is None or address is None:
            return False
        if not (_fits("Int64", line) and _fits("UInt64", code_object) and _fits("UInt64", address)):
            return False
        if text.startswith(";"):
            name = readable(text[1:].strip())
            self._function = name, code_object
            self._code.labels.append(Label(name, readable(source or ""), code_object, address))
            return True
        return self._add_instruction(row, line, readable(text), readable(source or ""), (code_object, address))

    def _add_instruction(self, row: list[Any], line: int, text: str, source: str, place: tuple[int, int]) -> bool:
        hit, latency, stall, idle = (whole(self._value(row, name)) for name in ("hit", "latency", "stall", "idle"))
        totals = (hit or 0, latency or 0, stall or 0, idle or 0)
        if not all(_fits("Int64", total) for total in totals):
            return False
        code, function = self._code, self._function
        number = len(code.lines)
        if self._sampling and not self._add_samples(row, number, *self._sampling):
            return False
        code.lines.append(line)
        code.texts.append(text)
        code.chains.append(source or None)
        code.places.append(place)
        code.functions.append(function[0] if function and function[1] == place[0] else None)
        code.totals.append(totals)
        return True

    def _add_samples(self, row: list[Any], number: int, issued_name: str, stalled_name: str, reasons_name: str) -> bool:
        issued_count = whole(self._value(row, issued_name)) or 0
        stalled_count = whole(self._value(row, stalled_name)) or 0
        listed = self._value(row, reasons_name)
        reasons = [whole(count) or 0 for count in listed] if isinstance(listed, list) else []
        if not all(_fits("Int64", count) for count in (issued_count, stalled_count, *reasons)):
            return False
        if issued_count or stalled_count:
            self._code.samples.append((number, issued_count, stalled_count, 0))
        for at, count in enumerate(reasons):
            if count:
                reason = SAMPLE_REASONS[at] if at < len(SAMPLE_REASONS) else f"reason {at}"
                self._code.reasons.append((number, reason, count))
        return True

    def _value(self, row: list[Any], name: str) -> Any:
        at = self._positions.get(name, len(row))
        return row[at] if at < len(row) else None


def _fits(dtype: str, value: int) -> bool:
    low, high = INTEGER_RANGES[dtype]
    return low <= value <= high


def _sizes() -> pl.Expr:
    """Length up to the next instruction of the same function; null = unknown."""
    next_function = pl.col("function").shift(-1)
    same = (pl.col("code_object") == pl.col("code_object").shift(-1)) & pl.col("function").eq_missing(next_function)
    gap = pl.col("address").shift(-1).cast(pl.Int128) - pl.col("address").cast(pl.Int128)
    return pl.when(same & gap.is_between(1, _LONGEST_ENCODING_BYTES)).then(gap).cast(pl.UInt16).alias("size")


def _classified(frame: pl.DataFrame, gfxip: int, target: str | None) -> pl.DataFrame:
    """Add `class`. Directories record only the generation, and gfx1250 is one of gfx12: it is tried last."""
    if target is not None or not gfxip:
        return classify_frame(frame, target)
    classes = classify_frame(frame, f"gfx{gfxip}-generic")
    if gfxip < 12:
        return classes
    newer = classify_frame(frame, "gfx1250")["class"]
    return classes.with_columns(pl.when(pl.col("class") == "unknown").then(newer).otherwise("class").alias("class"))
