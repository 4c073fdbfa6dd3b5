"""Stores: folders of Parquet files, one per capture, and packs that have many captures in one file to be read fast.

    wavewright-store.json            what it is, and its version
    captures/kind=run/<capture>.parquet
    packs/kind=run/<pack>.parquet    captures again, many in one file; files of captures stay

Nothing is ever changed: files appear under their final names. A reader takes what is there and leaves out, with a
loss, what is not a table of a store. The folder is a path, or an address that fsspec opens.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import msgspec
import polars as pl

from wavewright.base.files import open_regular
from wavewright.errors import MissingToolError, NotATraceError, UnsupportedError, UsageError, WavewrightError
from wavewright.model.baseline import (
    STORE_FORMAT,
    STORE_MARK,
    STORE_ROWS,
    STORE_VERSION,
    Baseline,
    MeasuredCapture,
    Quantity,
)
from wavewright.model.losses import Loss

KINDS = ("trace", "run", "counters")
CAPTURES, PACKS = "captures", "packs"
ENDING = ".parquet"
_NAME = re.compile(r"[0-9a-f]{32}\.parquet")
_MOST_BYTES = {CAPTURES: 64 << 20, PACKS: 1 << 30}
_MOST_ROWS = {CAPTURES: 1_000_000, PACKS: 50_000_000}
_MOST_ROWS_PER_BYTE = 100  #: A packed row of numbers that repeat takes less than a byte.
_LONGEST_REASON = 200
_THREADS = 4
_UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException, WavewrightError)

#: What runs a task on many items, here or on other machines: the results in the order of the items.
Spread = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


def on_threads(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """The results of a task, some items at the same time."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(task, items))


class StorePlace(Protocol):
    """The place of the files of a store."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder; none where there is no such folder."""

    def read(self, name: str, bytes_max: int) -> bytes:
        """A file; OSError where it cannot be read, or is larger than `bytes_max` bytes."""

    def publish(self, name: str, content: bytes) -> bool:
        """Create a complete file at once; False if the name is taken."""


@dataclass(frozen=True)
class LocalPlace:
    """A folder of this machine; links in it are not followed."""

    root: Path

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder."""
        try:
            return sorted(entry.name for entry in (self.root / folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, name: str, bytes_max: int) -> bytes:
        """A regular file."""
        path = self.root / name
        if path.is_symlink():
            raise OSError(f"{name} is a link")
        with open_regular(path) as file:
            content = file.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise OSError(f"more than {bytes_max >> 20} MiB")
        return content

    def publish(self, name: str, content: bytes) -> bool:
        """Written beside its place, then given its name."""
        import os

        from wavewright.base.scratch import scratch_folder

        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            return False
        with scratch_folder(self.root) as folder:
            twin = folder / target.name
            twin.write_bytes(content)
            try:
                os.link(twin, target)
            except FileExistsError:
                return False
            except OSError:  # a file system without links: a rename replaces what is equal anyway
                is_new = not target.exists()
                twin.rename(target)
                return is_new
        return True


@dataclass(frozen=True)
class RemotePlace:
    """A folder that fsspec opens; its objects appear whole."""

    address: str

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder."""
        system, root = self._opened()
        try:
            return sorted(path.rpartition("/")[2] for path in system.ls(f"{root}/{folder}", detail=False))
        except FileNotFoundError:
            return []

    def read(self, name: str, bytes_max: int) -> bytes:
        """An object; OSError where it is larger than `bytes_max` bytes."""
        system, root = self._opened()
        content: bytes = system.cat_file(f"{root}/{name}", 0, bytes_max + 1)
        if len(content) > bytes_max:
            raise OSError(f"more than {bytes_max >> 20} MiB")
        return content

    def publish(self, name: str, content: bytes) -> bool:
        """Put an object."""
        system, root = self._opened()
        path = f"{root}/{name}"
        if system.exists(path):
            return False
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        system.pipe_file(path, content)
        return True

    def _opened(self) -> tuple[Any, str]:
        """The file system of fsspec, which has no types, and the path in it."""
        try:
            import fsspec  # type: ignore[import-untyped]
        except ImportError:
            advice = "pip install fsspec, and the package of that service"
            raise MissingToolError("a store that is not a folder needs fsspec", advice=advice) from None
        try:
            system, root = fsspec.core.url_to_fs(self.address)
        except (ImportError, ValueError) as error:
            raise UsageError(f"fsspec does not open it: {error}", where=self.address) from error
        return system, root.rstrip("/")


def place_of(address: str) -> StorePlace:
    """The place that a path or an address names."""
    return RemotePlace(address) if "://" in address else LocalPlace(Path(address))


def is_store(address: str) -> bool:
    """True if there is a store."""
    try:
        return STORE_MARK in place_of(address).names("")
    except (OSError, WavewrightError):
        return False


class _Mark(msgspec.Struct):
    format: str = ""
    version: int = 0


def check_mark(address: str) -> StorePlace:
    """The place of a store.

    Raises `UsageError, NotATraceError, UnsupportedError` when there is none, or one that is not known here.
    """
    place = place_of(address)
    if STORE_MARK not in place.names(""):
        advice = f"make one by adding captures: wavewright store add {address} CAPTURES"
        raise UsageError("there is no store", where=address, advice=advice)
    try:
        mark = msgspec.json.decode(place.read(STORE_MARK, 1 << 16), type=_Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotATraceError(f"a damaged store ({error})", where=f"{address}/{STORE_MARK}") from error
    if mark.format != STORE_FORMAT:
        raise NotATraceError("not a store of wavewright", where=f"{address}/{STORE_MARK}")
    if mark.version != STORE_VERSION:
        problem = f"a store of version {mark.version}; this wavewright reads {STORE_VERSION}"
        raise UnsupportedError(problem, where=address, advice="update wavewright")
    return place


@dataclass
class Store:
    """A store, opened: rows are read when they are asked for."""

    address: str
    place: StorePlace
    spread: Spread = on_threads
    losses: list[Loss] = field(default_factory=list)

    def captures(self, kind: str) -> list[str]:
        """Identities of the captures of a kind."""
        return [name.removesuffix(ENDING) for name in self._names(CAPTURES, kind)]

    def unpacked(self, kind: str) -> list[str]:
        """Identities of the captures of a kind that are in no pack."""
        packed_names = {name for part in self._parts(PACKS, kind, pl.lit(value=False)) for name in part.captures}
        return [name for name in self.captures(kind) if name not in packed_names]

    def read(
        self,
        where: pl.Expr | None = None,
        *,
        columns: Sequence[str] = tuple(STORE_ROWS.names),
        kinds: Sequence[str] = KINDS,
    ) -> pl.DataFrame:
        """Rows of all captures that fulfil a condition, in the order in which the captures were taken."""
        frames = [pl.DataFrame(schema=STORE_ROWS.dtypes)]
        for kind in kinds:
            frames += self._of_kind(kind, pl.lit(value=True) if where is None else where)
        rows = pl.concat(frames).sort(["taken_ns", "capture"], maintain_order=True)
        return rows.select(columns)

    def of_captures(self, kind: str, captures: Sequence[str]) -> pl.DataFrame:
        """All rows of these captures, from their own files."""
        parts = self._parts(CAPTURES, kind, pl.lit(value=True), [f"{capture}{ENDING}" for capture in captures])
        return pl.concat([pl.DataFrame(schema=STORE_ROWS.dtypes), *(part.rows for part in parts)])

    def _of_kind(self, kind: str, condition: pl.Expr) -> list[pl.DataFrame]:
        """Rows of the packs, then of the files that no pack has; a capture in two packs counts once."""
        packed_captures: set[str] = set()
        frames = []
        for part in self._parts(PACKS, kind, condition):
            frames.append(part.rows.filter(~pl.col("capture").is_in(list(packed_captures & part.captures))))
            packed_captures |= part.captures
        names = [name for name in self._names(CAPTURES, kind) if name.removesuffix(ENDING) not in packed_captures]
        return frames + [part.rows for part in self._parts(CAPTURES, kind, condition, names)]

    def _names(self, folder: str, kind: str) -> list[str]:
        return [name for name in self.place.names(f"{folder}/kind={kind}") if _NAME.fullmatch(name)]

    def _parts(self, folder: str, kind: str, condition: pl.Expr, names: Sequence[str] | None = None) -> list[_FileRows]:
        """Rows of the files of a folder, all or those named; other files are losses."""
        task = _FileReading(self.address, folder, kind, condition)
        parts: list[_FileRows] = self.spread(task, self._names(folder, kind) if names is None else names)
        self.losses += [loss for part in parts for loss in part.losses]
        return parts


@dataclass(frozen=True)
class _FileRows:
    """Contents of a file: the rows that were asked for, and which captures it has."""

    rows: pl.DataFrame
    captures: frozenset[str] = frozenset()
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True)
class _FileReading:
    """Task: the rows of one file of a store that fulfil a condition."""

    address: str
    folder: str
    kind: str
    condition: pl.Expr

    def __call__(self, name: str) -> _FileRows:
        """Rows of the file of that name; none, and a loss, where it has no rows of a store."""
        path = f"{self.folder}/kind={self.kind}/{name}"
        try:
            frame = _table(place_of(self.address).read(path, _MOST_BYTES[self.folder]), _MOST_ROWS[self.folder])
            finite_rows = frame.filter(pl.col("kind") == self.kind, pl.col("mean").is_finite(), pl.col("count") >= 0)
            damage = frame.height - finite_rows.height
            losses = (Loss("store_rows", damage, path),) if damage else ()
            if self.folder == CAPTURES:
                finite_rows = finite_rows.filter(pl.col("capture") == name.removesuffix(ENDING))
            return _FileRows(finite_rows.filter(self.condition), frozenset(finite_rows["capture"].unique()), losses)
        except _UNREADABLE as error:
            reason = str(error) or type(error).__name__
            loss = Loss("store_file", 1, f"{path}: {reason[:_LONGEST_REASON]}")
            return _FileRows(pl.DataFrame(schema=STORE_ROWS.dtypes), losses=(loss,))


def open_store(address: str, spread: Spread = on_threads) -> Store:
    """A store, its files unread; `spread` reads them.

    Raises `WavewrightError` when there is none, or one that is not known here.
    """
    return Store(address, check_mark(address), spread)


def last_captures(store: Store, like: Baseline, *, series: str | None, count: int) -> Baseline:
    """The newest undamaged captures of a store that were measured as others were, as a baseline.

    Raises `UsageError` when there is none.
    """
    filters = filter_text(like.filters)
    condition = (pl.col("damages") == "") & (pl.col("step") == (like.step or "")) & (pl.col("filter") == filters)
    if like.targets:
        condition &= pl.col("target").is_in(list(like.targets))
    if series is not None:
        condition &= pl.col("series") == series
    kernels = [capture.kernel for capture in like.captures if capture.kernel]
    if kernels:
        condition &= pl.col("kernel").is_in(kernels)
    rows = store.read(condition, kinds=(like.kind,))
    newest = rows["capture"].unique(maintain_order=True).tail(count).to_list()
    if not newest:
        subject = f"{like.kind} on {' and '.join(like.targets) or 'this GPU'}"
        advice = "wavewright store list shows GPU, series and step of every capture; they must be the same"
        raise UsageError(f"no capture of a {subject} can be compared with", where=store.address, advice=advice)
    parts = rows.filter(pl.col("capture").is_in(newest)).partition_by("capture", maintain_order=True)
    return Baseline(like.kind, tuple(_measured(part) for part in parts), like.step, dict(like.filters))


def filter_text(filters: Mapping[str, str]) -> str:
    """Filters as the column `filter` has them."""
    return "\n".join(f"{name}={value}" for name, value in sorted(filters.items()))


def _measured(rows: pl.DataFrame) -> MeasuredCapture:
    first = rows.row(0, named=True)
    names = [quantity_field.name for quantity_field in fields(Quantity)]
    return MeasuredCapture(
        label=first["label"],
        quantities=tuple(Quantity(**{name: row[name] for name in names}) for row in rows.iter_rows(named=True)),
        target=first["target"],
        software=dict(line.partition("=")[::2] for line in first["software"].split("\n") if line),
        kernel=first["kernel"],
        code=first["code"],
        step_count=max(1, first["step_count"]),
    )


def _table(content: bytes, most_rows: int) -> pl.DataFrame:
    """The table in a Parquet file, if it has the columns of a store and may be as large as it says."""
    scan = pl.scan_parquet(io.BytesIO(content))
    types = scan.collect_schema()
    for name, dtype in STORE_ROWS.dtypes.items():
        if types.get(name) != dtype:
            raise NotATraceError(f"no column {name} of type {dtype}")
    rows = scan.select(pl.len()).collect().item()
    if rows > min(most_rows, _MOST_ROWS_PER_BYTE * len(content)):
        raise NotATraceError(f"{rows:,} rows in {len(content):,} bytes are not believed")
    frame = scan.select(STORE_ROWS.names).collect()
    return frame.drop_nulls([column.name for column in STORE_ROWS.columns if not column.is_optional])
