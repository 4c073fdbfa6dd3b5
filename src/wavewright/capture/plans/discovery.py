"""Kernels that a program ran: which one to look at, and which of its launches.

A launch is numbered as rocprofv3 does it: from 1, per kernel symbol and process (spec 1.7). A JIT that loads its code
again makes another symbol of the same name, which is counted separately.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from wavewright.base.words import counted, percent, shortened
from wavewright.errors import NotATraceError, UsageError
from wavewright.facts.kernel_titles import kernel_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import polars as pl

    from wavewright.capture.kinds import ThreadTraces
    from wavewright.capture.rocprofv3.options import Version
    from wavewright.model.run import Run

COLD_LAUNCHES = 2  #: The first launches of a symbol, which load code, fill caches and raise clocks.
_WARM_SHARE = 2 / 3  #: The traced launches are those nearest to this share of all launches (spec 3.6).
_NEAREST, _LONGEST_NAME = 3, 100  #: Names in a message, and their length.
_ENGINES_MAX = 256  #: More shader engines than that no GPU has.
_HELPER_SHARE_MAX = 0.5  #: A kernel whose name only suggests a helper is no helper if it takes more than this.


@dataclass(frozen=True, kw_only=True)
class DiscoveredGpu:
    """The GPU on which kernels ran, as the discovery describes it."""

    target: str
    product: str
    cu_count: int
    wave_slots: int  #: Waves that may be resident at once, on all SIMDs.
    wave_lanes: int
    se_count: int  #: Shader engines of all XCCs; 0 = not recorded.
    xcc_count: int

    @property
    def se_mask_spread(self) -> int | None:
        """The first shader engine of each XCC; with one XCC all engines; None = not known (spec 3.3)."""
        if not self.se_count or self.se_count % self.xcc_count:
            return None
        if self.xcc_count == 1:
            return (1 << self.se_count) - 1
        step = self.se_count // self.xcc_count
        return sum(1 << engine for engine in range(0, self.se_count, step))


class Shape(NamedTuple):
    """The size of a launch."""

    workgroups: int
    workgroup_lanes: int
    grid: tuple[int, int, int]  #: In lanes.
    workgroup: tuple[int, int, int]  #: In lanes.


@dataclass(frozen=True, kw_only=True)
class SymbolLaunches:
    """The launches of one kernel symbol in one process."""

    process: int  #: Its place among the processes of the discovery.
    symbol_id: int | None  #: rocprofv3's Kernel_Id; None = not recorded.
    dispatches: tuple[int, ...]  #: Dispatch numbers in order: the n-th is launch n.
    durations_ns: tuple[int, ...]
    shapes: tuple[Shape, ...]

    @property
    def calls(self) -> int:
        """The number of launches."""
        return len(self.dispatches)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """All launches of the kernels of one name."""

    name: str  #: As rocprofv3 spells it, which its filters compare.
    title: str  #: The same for people: demangled where rocprofv3 could not.
    calls: int
    total_ns: int
    share: float  #: Of the time of all kernels.
    symbols: tuple[SymbolLaunches, ...]  #: Most launches first.
    shape: Shape  #: Of the launches that take most of its time.
    shape_count: int  #: Different grids or workgroups.
    vgpr_count: int | None
    accum_vgpr_count: int | None
    sgpr_count: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    gpu: DiscoveredGpu | None  #: None = not recorded.
    passed_over: str  #: Why it is not suggested; empty = it may be.

    @property
    def waves(self) -> int | None:
        """Waves of a launch of its main shape."""
        if self.gpu is None or not self.gpu.wave_lanes:
            return None
        return self.shape.workgroups * -(-self.shape.workgroup_lanes // self.gpu.wave_lanes)

    @property
    def fill(self) -> float | None:
        """Waves of a launch against those that may be resident at once; above 1 they run one after the other."""
        return self.waves / self.gpu.wave_slots if self.gpu and self.gpu.wave_slots and self.waves else None

    @property
    def workgroups_per_cu(self) -> float | None:
        """Below 1, some CUs get none: the traced one may be among them."""
        return self.shape.workgroups / self.gpu.cu_count if self.gpu and self.gpu.cu_count else None


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """The kernel to look at, and the launches to trace."""

    kernel: Kernel
    launches: tuple[int, ...]
    se_mask: int | None  #: Shader engines to trace where the grid is smaller than the GPU; None = as usual.
    notes: tuple[str, ...]  #: What was passed over, and what to be careful about.

    @property
    def line(self) -> str:
        """Kernel and launches in one line."""
        launches = " and ".join(map(str, self.launches))
        what = "launches" if len(self.launches) > 1 else "launch"
        most = self.kernel.symbols[0].calls
        calls = f"{most:,}" if len(self.kernel.symbols) == 1 else f"{most:,} of the symbol with most"
        return f"{shortened(kernel_title(self.kernel.title))}, {what} {launches} of {calls}"


@dataclass(frozen=True, kw_only=True)
class DiscoveredKernels:
    """The kernels of a discovery."""

    kernels: tuple[Kernel, ...]  #: Most time first.
    dispatch_count: int
    process_count: int
    total_ns: int

    @property
    def names(self) -> tuple[str, ...]:
        """All names of kernels."""
        return tuple(kernel.name for kernel in self.kernels)

    def launch_of(self, dispatch: int) -> tuple[Kernel, SymbolLaunches, int] | None:
        """Kernel, symbol and launch number of a dispatch; None = no such dispatch, or several processes have it."""
        hits = [
            (kernel, symbol, symbol.dispatches.index(dispatch) + 1)
            for kernel in self.kernels
            for symbol in kernel.symbols
            if dispatch in symbol.dispatches
        ]
        return hits[0] if len(hits) == 1 else None

    def matching(self, text: str) -> tuple[Kernel, ...]:
        """The kernels whose names contain a text; those that are called exactly so before all others."""
        exact = tuple(kernel for kernel in self.kernels if kernel.name == text)
        return exact or tuple(kernel for kernel in self.kernels if text in kernel.name or text in kernel.title)

    def suggestion(self, kernels: Sequence[Kernel] | None = None) -> Suggestion:
        """The largest of the kernels (None = of all) that is not known noise, and its warm launches."""
        choice = self.kernels if kernels is None else tuple(kernels)
        candidates = [kernel for kernel in choice if not kernel.passed_over]
        kernel = (candidates or choice)[0]
        notes = []
        larger = [other for other in choice[: choice.index(kernel)] if other.passed_over]
        if larger:
            time, names = percent(sum(other.share for other in larger)), counted(len(larger), "larger kernels")
            reasons = Counter(other.passed_over for other in larger)
            listed = "; ".join(f"{count if count > 1 else 'one'} of {reason}" for reason, count in reasons.items())
            notes.append(f"{names} passed over, {time} of the GPU time: {listed}")
        elif kernel.passed_over and kernels is None:
            notes.append(f"every kernel is one of a library or helper; this is the largest: {kernel.passed_over}")
        launches, more = warm_launches(kernel)
        notes += more
        per_cu, se_mask = kernel.workgroups_per_cu, None
        if kernel.gpu is not None and per_cu is not None and per_cu < 1:
            se_mask = kernel.gpu.se_mask_spread
            grid = f"its {counted(kernel.shape.workgroups, 'workgroups')} are fewer than the {kernel.gpu.cu_count} CUs"
            spread = ", so shader engines of every XCC are traced" if se_mask else ""
            notes.append(f"{grid}: a trace of one CU may be empty{spread}")
        return Suggestion(kernel=kernel, launches=launches, se_mask=se_mask, notes=tuple(notes))


def warm_launches(kernel: Kernel) -> tuple[tuple[int, ...], list[str]]:
    """Two neighbouring launches of the same size at about two thirds of those of the symbol that has most, and notes.

    The first two are taken only where there are no others (spec 3.6).
    """
    symbol = kernel.symbols[0]
    notes = []
    if len(kernel.symbols) > 1:
        process_count = len({other.process for other in kernel.symbols})
        where = f" in {process_count} processes" if process_count > 1 else ""
        notes.append(
            f"{len(kernel.symbols)} kernel symbols{where} have this name, and each counts its launches from 1: "
            f"these are of the one with most launches, {symbol.calls}"
        )
    warm = range(COLD_LAUNCHES + 1, symbol.calls + 1)
    if not warm:
        last = symbol.calls
        notes.append(f"it is launched {counted(last, 'times')} only: what is traced is not warm, and not compared")
        return (last,), notes
    pairs = [number for number in warm[:-1] if symbol.shapes[number - 1] == symbol.shapes[number]]
    if not pairs:
        single = min(warm, key=lambda number: abs(number - symbol.calls * _WARM_SHARE))
        why = "no two neighbours of the others are of the same size" if len(warm) > 1 else "only one is warm"
        notes.append(f"one launch, without a second one as noise floor: {why}")
        return (single,), notes
    times = _time_of_shapes([symbol])
    middle = symbol.calls * _WARM_SHARE
    first = min(pairs, key=lambda number: (-times[symbol.shapes[number - 1]], abs(number - middle)))
    if kernel.shape_count > 1:
        notes.append(f"its launches have {kernel.shape_count} sizes; these are of the one that takes most time")
    return (first, first + 1), notes


def _time_of_shapes(symbols: Iterable[SymbolLaunches]) -> Counter[Shape]:
    times: Counter[Shape] = Counter()
    for symbol in symbols:
        for shape, duration in zip(symbol.shapes, symbol.durations_ns, strict=True):
            times[shape] += duration
    return times


def with_suggestion(
    recording: ThreadTraces, kernels: DiscoveredKernels, rocm_version: str
) -> tuple[ThreadTraces, tuple[str, ...]]:
    """The request with kernel, launches and shader engines of a discovery where they were not told, and notes.

    The first note says which kernel and launches were taken.
    """
    from wavewright.capture.rocprofv3.options import version_of
    from wavewright.capture.rocprofv3.regex import name_regex

    suggestion = kernels.suggestion(_candidates(recording, kernels, version_of(rocm_version)))
    launches = recording.launches or suggestion.launches[-recording.launch_count :]
    se_mask = recording.se_mask if recording.se_mask is not None else suggestion.se_mask
    regex = recording.kernel_regex or name_regex(suggestion.kernel.name, kernels.names)
    complete = structs.replace(
        recording, kernel=suggestion.kernel.name, kernel_regex=regex, launches=launches, se_mask=se_mask
    )
    asked = replace(suggestion, launches=launches)
    return complete, (asked.line, *suggestion.notes)


def _candidates(recording: ThreadTraces, kernels: DiscoveredKernels, version: Version) -> Sequence[Kernel] | None:
    """The kernels among which to choose, without those that are excluded; None = all."""
    from wavewright.capture.rocprofv3.regex import names_found

    candidates: Sequence[Kernel] | None = None
    if recording.kernel_regex:
        names = names_found(recording.kernel_regex, kernels.names, version)
        if names == ():
            raise _no_kernel(f"the regex {shortened(recording.kernel_regex)!r}", recording.kernel_regex, kernels)
        candidates = None if names is None else [kernel for kernel in kernels.kernels if kernel.name in names]
    elif recording.kernel:
        candidates = kernels.matching(recording.kernel)
        if not candidates:
            raise _no_kernel(f"the name {shortened(recording.kernel)!r}", recording.kernel, kernels)
    if not recording.exclude_regex:
        return candidates
    excluded = names_found(recording.exclude_regex, kernels.names, version) or ()
    rest = [kernel for kernel in candidates or kernels.kernels if kernel.name not in excluded]
    if not rest:
        what = f"every kernel is excluded by {shortened(recording.exclude_regex)!r}"
        raise UsageError(what, advice="exclude fewer of them")
    return rest


def _no_kernel(what: str, text: str, kernels: DiscoveredKernels) -> UsageError:
    names = [shortened(name, _LONGEST_NAME) for name in kernels.names]
    near = get_close_matches(text[:_LONGEST_NAME], names, n=_NEAREST, cutoff=0.4) or names[:_NEAREST]
    return UsageError(f"no kernel that ran matches {what}", advice=f"there are {', '.join(near)}")


def discovered(path: Path | str) -> DiscoveredKernels:
    """The kernels of the discovery at a path: a folder of `capture discover`, or files of rocprofv3."""
    from wavewright.base.job_folders import read_instead
    from wavewright.readers.run.inputs import find_runs, open_inputs

    run = open_inputs(find_runs([read_instead(str(path))], with_passes=True))
    kernels = kernels_of(run)
    if not kernels.kernels:
        advice = "does the program launch kernels, in this process or in children that end by themselves?"
        raise NotATraceError("no kernel was recorded", where=str(path), advice=advice)
    return kernels


_SIZES = ("workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z")
_RESOURCES = ("lds_bytes", "scratch_bytes", "sgpr_count", "vgpr_count", "accum_vgpr_count")
_COLUMNS = ("process", "agent", "symbol", "name", "dispatch_id", "start_ns", "end_ns", *_SIZES, *_RESOURCES)


def kernels_of(run: Run) -> DiscoveredKernels:
    """The kernels of a run, most time first."""
    import polars as pl

    rows = run.read("dispatches", list(_COLUMNS)).with_columns(
        pl.col("name").cast(pl.String).fill_null("?").str.strip_suffix(".kd"),
        duration=(pl.col("end_ns") - pl.col("start_ns")).clip(0).fill_null(0),
    )
    symbols = run.read("symbols", ["symbol", "symbol_id"])
    ids = dict(zip(symbols["symbol"].to_list(), symbols["symbol_id"].to_list(), strict=True))
    gpus = _gpus(run)
    total_ns = int(rows["duration"].sum())
    kernels = [
        _kernel(str(name), part, ids, gpus, total_ns)
        for (name,), part in rows.sort("dispatch_id", "start_ns").group_by("name", maintain_order=True)
    ]
    kernels.sort(key=lambda kernel: (-kernel.total_ns, kernel.name))
    return DiscoveredKernels(
        kernels=tuple(kernels), dispatch_count=rows.height, process_count=rows["process"].n_unique(), total_ns=total_ns
    )


def _gpus(run: Run) -> dict[int, DiscoveredGpu]:
    names = ["agent", "kind", "target", "product", "cu_count", "simd_count", "wave_lanes", "waves_per_simd_max"]
    rows = run.read("agents", [*names, "properties"]).to_dicts()
    return {
        row["agent"]: DiscoveredGpu(
            target=row["target"] or "",
            product=row["product"] or "",
            cu_count=row["cu_count"] or 0,
            wave_slots=(row["simd_count"] or 0) * (row["waves_per_simd_max"] or 0),
            wave_lanes=row["wave_lanes"] or 0,
            **_engines(row["properties"]),
        )
        for row in rows
        if row["kind"] == "GPU" and row["cu_count"]  # else nothing is known of it but that it exists
    }


def _engines(properties: str | None) -> dict[str, int]:
    """Shader engines and XCCs, from what rocprofv3 copies of the driver's description."""
    import json

    try:
        values = json.loads(properties or "{}")
        xccs = max(int(values.get("num_xcc", 1)), 1)
        arrays = int(values.get("array_count", 0)) // max(int(values.get("simd_arrays_per_engine", 1)), 1)
    except (ValueError, TypeError, AttributeError):
        return {"se_count": 0, "xcc_count": 1}
    return {"se_count": arrays if 0 < arrays <= _ENGINES_MAX else 0, "xcc_count": xccs}


def _kernel(
    name: str, rows: pl.DataFrame, ids: dict[int, int | None], gpus: dict[int, DiscoveredGpu], total_ns: int
) -> Kernel:
    import polars as pl

    from wavewright.codeobj.names import demangle
    from wavewright.facts.library_kernels import origin_of

    symbols = [
        _symbol(int(process), ids.get(symbol), part)
        for (process, symbol), part in rows.group_by("process", "symbol", maintain_order=True)
    ]
    symbols.sort(key=lambda symbol: -symbol.calls)
    times = _time_of_shapes(symbols)
    time = int(rows["duration"].sum())
    share = time / total_ns if total_ns else 0.0
    title = demangle(name) if name.startswith("_Z") else name
    origin = origin_of(title)
    return Kernel(
        name=name,
        title=title,
        calls=rows.height,
        total_ns=time,
        share=share,
        symbols=tuple(symbols),
        shape=times.most_common(1)[0][0],
        shape_count=len(times),
        gpu=gpus.get(rows["agent"][0]),
        passed_over=origin.what if origin and (origin.is_certain or share <= _HELPER_SHARE_MAX) else "",
        **rows.select(pl.col(_RESOURCES).max()).row(0, named=True),
    )


def _symbol(process: int, symbol_id: int | None, rows: pl.DataFrame) -> SymbolLaunches:
    return SymbolLaunches(
        process=process,
        symbol_id=symbol_id,
        dispatches=tuple(rows["dispatch_id"].fill_null(-1).to_list()),
        durations_ns=tuple(rows["duration"].to_list()),
        shapes=tuple(map(_shape_of, rows.select(_SIZES).iter_rows())),
    )


@lru_cache(maxsize=4096)  # runs have a million launches, of a few sizes
def _shape_of(sizes: tuple[int | None, ...]) -> Shape:
    x, y, z, grid_x, grid_y, grid_z = (max(size or 1, 1) for size in sizes)
    workgroups = -(-grid_x // x) * -(-grid_y // y) * -(-grid_z // z)
    return Shape(workgroups, workgroup_lanes=x * y * z, grid=(grid_x, grid_y, grid_z), workgroup=(x, y, z))
