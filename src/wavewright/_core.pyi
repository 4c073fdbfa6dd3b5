from collections.abc import Callable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

class Table:
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __len__(self) -> int: ...

class Program:
    def __init__(self) -> None: ...
    def add_listing(self, code_object: int, load_address: int | None, tsv: bytes) -> int: ...
    def add_funcmap(self, code_object: int, text: bytes) -> int: ...
    def marker_names(self) -> list[tuple[int, int, int, int, bytes, bytes]]: ...
    def link(self) -> None: ...
    def rows(self) -> Table: ...
    def listing(self) -> Table: ...
    @property
    def first_rows(self) -> list[int]: ...

class Records:
    @property
    def status(self) -> int: ...
    @property
    def stopped_at_byte(self) -> int: ...
    @property
    def gfxip(self) -> int: ...
    @property
    def stream_version(self) -> int: ...
    @property
    def target_cu(self) -> int: ...
    @property
    def target_simd(self) -> int: ...
    @property
    def double_buffer(self) -> bool: ...
    @property
    def realtime_hz(self) -> int: ...
    @property
    def counter_interval_cycles(self) -> int: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def token_count(self) -> int: ...
    @property
    def instruction_count(self) -> int: ...
    @property
    def release_count(self) -> int: ...
    @property
    def unresolved_count(self) -> int: ...
    @property
    def category_bits(self) -> int: ...
    @property
    def executed_rows(self) -> bytes: ...
    @property
    def state_cycles(self) -> dict[int, int]: ...

def tables(records: Records) -> dict[str, Table]: ...
def generation_of(head: bytes) -> str | None: ...
def joined_rows(records: Sequence[Records]) -> dict[str, Table]: ...
def decode(
    buffers: Sequence[object],
    program: Program,
    corrected: bool = False,
    threads: int = 0,
    rows: bool = True,
    first_wave: int = 0,
) -> list[Records]: ...
def isa_targets() -> list[str]: ...
def isa_nearest(target: str) -> tuple[str, bool] | None: ...

class Disassembly:
    """Rows: address, size, record, facts, text. Operands: row, register, count, role (wavewright/isa.hpp)."""

    @property
    def rows(self) -> Table: ...
    @property
    def operands(self) -> Table: ...
    @property
    def tsv(self) -> bytes: ...

def disassemble(
    code: bytes, chunks: Sequence[tuple[int, int, int, bool]], column: str, operands: bool = True
) -> Disassembly: ...
def read_instruction_texts(texts: Sequence[str], column: str, wave64: bool) -> Disassembly: ...
def distinct_entries(tables: Sequence[tuple[object, object]]) -> Table: ...
def entry_numbers(rows: tuple[object, object], entries: tuple[object, object]) -> Table: ...

WAIT_COUNTERS: tuple[str, ...]

def match_waits(texts: Sequence[str], gfxip: int, waves: object, rows: object) -> Table: ...
def row_totals(instructions: object, waves: object, row_count: int) -> Table: ...
def hidden_latency(
    instructions: object, waves: object, other_simd: object, is_matrix: object, kept: object | None, rule: str
) -> Table: ...
def taken_jumps(instructions: object, may_jump: object, is_call: object) -> Table: ...
def loop_iterations(instructions: object, loops: object, is_call: object) -> Table: ...
def call_tree(
    thread: object,
    begin: object,
    end: object,
    name: object,
    launch: object,
    work: object,
) -> Table: ...
def state_cycles(
    group: object,
    begin: object,
    first: object,
    count: object,
    states: object,
    durations: object,
    bins: tuple[int, int, int],
) -> Table: ...
def pipe_use(
    unit: object,
    group: object,
    offset: object,
    begin: object,
    end: object,
    first: object,
    count: object,
    time: object,
    stall: object,
    duration: object,
    category: object,
    row: object,
    pipe_of_category: bytes,
    pipe_of_row: object,
    busy_of_row: object,
    counts_unknown_rows: bool,
    short_pipes: int,
    issue_cycles: int,
    bins: tuple[int, int, int],
) -> tuple[Table, Table, Table]: ...
def resolve_stalls(
    rules: Mapping[str, object],
    waves: Mapping[str, object],
    instructions: Mapping[str, object],
    free_wait_cycles: int,
    keeps_each: bool = False,
) -> dict[str, Table]: ...
def replay(
    instructions: Mapping[str, object],
    waves: Mapping[str, object],
    barriers: Mapping[str, object],
    rows: Mapping[str, object],
    issue_cycles: int,
    removals: list[tuple[int, int, bool, bool, bool, object | None]],
) -> tuple[list[int], list[list[int]], list[int], int]: ...

RowOfEdit = tuple[
    int, int, bool, bool, int, list[tuple[int, int]], list[tuple[int, bool, int, bool]], int, Sequence[int]
]  # row, ahead, is_moved, is_wait, padding states, waits, edges, dwords, rows that are one with it
EditTimes = tuple[list[int], float, bool, int, int]  # cycles by mode, traffic share, extrapolated, executions, lacking

class EditReplay:
    """Replays of waves with another order of a block (wavewright/edit_replay.hpp)."""

    def __init__(
        self,
        instructions: Mapping[str, object],
        waves: Mapping[str, object],
        barriers: Mapping[str, object],
        ports: Mapping[str, object],
        rules: Mapping[str, object],
        issue_cycles: int,
    ) -> None: ...
    @property
    def recorded_cycles(self) -> int: ...
    @property
    def contention_share(self) -> float: ...
    @property
    def servers(self) -> list[tuple[float, float, float, float, int]]: ...
    def as_recorded(self) -> EditTimes: ...
    def with_more_waves(self, more: int) -> EditTimes: ...
    def issues(self, wave: int, first: int, last: int, rows: Sequence[RowOfEdit]) -> list[tuple[int, int]]: ...
    def edited(
        self,
        first: int,
        last: int,
        rows: Sequence[RowOfEdit],
        prologue: Sequence[RowOfEdit],
        epilogue: Sequence[RowOfEdit],
    ) -> EditTimes: ...

def port_was_busy(
    instructions: Mapping[str, object], waves: Mapping[str, object], rows: Mapping[str, object], issue_cycles: int
) -> Table: ...

MAX_WAVE_GROUPS: int

def wave_paths(waves: object, rows: object, categories: object, row_count: int) -> Table: ...
def late_causes(
    waves: object,
    times: object,
    stalls: object,
    durations: object,
    rows: object,
    positions: object,
    barriers: object,
    roles: object,
    row_count: int,
) -> Table: ...
def stall_excess(
    waves: object, stalls: object, rows: object, signed_waves: object, signs: object, row_count: int
) -> Table: ...
def unit_moments(
    waves: object,
    times: object,
    stalls: object,
    durations: object,
    rows: object,
    categories: object,
    wave_numbers: object,
    begins: object,
    groups: object,
    units: object,
) -> Table: ...
def read_waves(
    files: Sequence[str | bytes],
    engines: Sequence[int],
    lines: Sequence[int],
    rows: Sequence[int],
    threads: int = 0,
) -> dict[str, Table]: ...
def read_integer_rows(text: bytes, least: int, most: int) -> tuple[Table, int, int | None]: ...
def split_json_object(text: bytes) -> tuple[list[tuple[bytes, bytes]], int | None]: ...
def demangle(name: str) -> str | None: ...

NO_TRACK: int

def issued_spans(
    waves: object,
    instructions: object,
    is_matrix: object,
    pipes: tuple[bytes, object, int, int],
    tracks: object,
    pipe_count: int,
) -> Table: ...
def used_pipes(
    waves: object, instructions: object, pipes: tuple[bytes, object, int, int], unit_count: int
) -> list[int]: ...

TILE_CELLS: int

class SpanPyramid:
    def __init__(
        self,
        track: object,
        begin: object,
        end: object,
        kind: object,
        item: object | None,
        track_count: int,
        first_time: int,
        last_time: int,
        cell_bits: int,
        parts_overlaps: bool = True,
    ) -> None: ...
    def tile(self, level: int, tile: int) -> Table: ...
    def tile_count(self, level: int) -> int: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def level_count(self) -> int: ...
    @property
    def track_count(self) -> int: ...
    @property
    def byte_count(self) -> int: ...
    def __len__(self) -> int: ...

class SqliteFile:
    def __init__(self, descriptor: int) -> None: ...
    @property
    def is_readable(self) -> bool: ...
    @property
    def page_size(self) -> int: ...
    @property
    def page_count(self) -> int: ...
    def is_table(self, root: int) -> bool: ...

class SqliteScan:
    def __init__(
        self,
        file: SqliteFile,
        root: int,
        columns: Sequence[tuple[str, int, int, bool, bool, int | float | str | None]],
    ) -> None: ...
    def next(self, most: int) -> Table: ...
    @property
    def damage(self) -> str: ...
    @property
    def mixed_counts(self) -> list[int]: ...

class PerfettoSlices:
    def __init__(self, first_child: int, may_nest: bool) -> None: ...
    def add(
        self,
        track: object,
        begin: object,
        end: object,
        name: object,
        category: object,
        flow: object,
        annotations: list[tuple[int, str, object]],
    ) -> bytes: ...
    def finish(self) -> bytes: ...
    @property
    def child_count(self) -> int: ...
    @property
    def next_child(self) -> int: ...

def perfetto_instants(
    track: object,
    time: object,
    name: object,
    category: object,
    flow: object,
    annotations: list[tuple[int, str, object]],
) -> bytes: ...
def nested_events(line: object, begin: object, end: object, may_nest: bool) -> Table: ...
def perfetto_points(track: object, time: object, value: object) -> bytes: ...
def read_perfetto(
    data: object, integers: Sequence[str], texts: Sequence[str], measured: Sequence[str]
) -> dict[str, Any]: ...
def compressed_perfetto(data: object) -> list[list[int]]: ...

class DurationStatistics:
    def __init__(self, key_count: int, longest: int) -> None: ...
    def add(self, keys: Sequence[object], begin: object, end: object, size: object | None) -> Table: ...
    def sums(self) -> Table: ...
    def values(self) -> Table: ...

class CoveredTime:
    def __init__(self, key_count: int, longest: int, farthest: int) -> None: ...
    def add(self, keys: Sequence[object], begin: object, end: object) -> Table: ...
    def totals(self) -> Table: ...

def regrouped_values(group: object, value: object, count: object, in_buckets: object) -> tuple[Table, Table]: ...

class JsonTexts:
    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> str: ...

def json_texts(texts: Sequence[str]) -> JsonTexts: ...
def json_values(values: Sequence[str]) -> JsonTexts: ...

class ChromeTrace:
    def __init__(self, write: Callable[[bytes], object]) -> None: ...
    def events(self, objects: Sequence[str]) -> None: ...
    def slices(self, frame: object, names: JsonTexts, args: JsonTexts) -> None: ...
    def marks(self, frame: object, names: JsonTexts, args: JsonTexts) -> None: ...
    def counters(self, frame: object, names: JsonTexts) -> None: ...
    def flows(self, frame: object) -> None: ...
    def queue_depths(self, frame: object, last: int) -> None: ...
    def frames(self, launches: object, markers: object, names: JsonTexts) -> None: ...
    def finish(self) -> None: ...
    @property
    def counts(self) -> dict[str, int]: ...

def lds_costs(dwords: object, active: object, width_dwords: int, banks: int, phases: Sequence[int]) -> Table: ...
def segment_counts(
    addresses: object, active: object, width_bytes: int, group_lanes: int, segment_bytes: int
) -> Table: ...

class WaveStart:
    """What registers hold when a wave starts."""

    def __init__(
        self,
        *,
        registers: Sequence[tuple[int, int, int]],
        regions: Sequence[tuple[bytes, bytes, bytes]],
        workgroup: tuple[int, int, int],
        workgroups: tuple[int, int, int],
        packed_ids: bool,
        id_registers: int,
        lane_count: int,
    ) -> None: ...

class LaneEvaluation(TypedDict):
    """What `LaneEvaluator.run` gives."""

    rows: Table
    reasons: Table
    patterns: Table
    addresses: Table
    executions: NotRequired[Table]
    execution_addresses: NotRequired[Table]
    contradiction_row: int
    misfit_row: int
    branch_count: int
    checked_branch_count: int

class LaneWalk(TypedDict):
    """What `LaneEvaluator.walk` gives."""

    path: Table
    executions: Table
    execution_addresses: Table
    is_complete: bool
    is_as_traced: bool
    stopped_row: int
    branch_count: int
    checked_branch_count: int
    assumed_branch_count: int

class LaneEvaluator:
    """Lane addresses of executed memory instructions."""

    def __init__(
        self,
        *,
        texts: Sequence[str],
        rows: Mapping[str, object],
        column: str,
        lds_rules: Sequence[tuple[int, Sequence[int]]],
        group_lanes: int,
        segment_bytes: int,
        pointer_bytes: int,
        lane_count: int,
    ) -> None: ...
    def run(
        self, start: WaveStart, wave: int, path: object, most_patterns: int, *, keeps_executions: bool = False
    ) -> LaneEvaluation: ...
    def walk(self, start: WaveStart, wave: int, traced: object, most_steps: int) -> LaneWalk: ...

class OrderMisses(TypedDict):
    """What `simulate_order` gives: lines, and workgroups that ran."""

    reads: int
    writes: int
    read_misses: int
    write_misses: int
    last_level_misses: int
    evictions: int
    workgroups: int

def simulate_order(
    work: Mapping[str, object], machine: Mapping[str, int], order: Mapping[str, float]
) -> OrderMisses: ...
def live_registers(
    rows: Mapping[str, object], operands: Mapping[str, object], given: object, wanted: object
) -> tuple[Table, Table] | None: ...

class EventGraph:
    def __init__(
        self,
        events: Mapping[str, object],
        tracks: Mapping[str, object],
        dependencies: Mapping[str, object],
        group: object,
    ) -> None: ...
    def path(self, group: int, start_ns: int, end_ns: int) -> Table: ...
    def slack(self) -> Table: ...
    def recompute(
        self,
        duration_scale: object | None = None,
        code_scale: object | None = None,
        lag_scale: object | None = None,
        flags: object | None = None,
        without_inferred: bool = False,
        typical_lags: bool = False,
    ) -> Table: ...
    @property
    def losses(self) -> dict[str, int]: ...
    @property
    def tolerance_ns(self) -> list[int]: ...
    @property
    def edge_count(self) -> int: ...
    def __len__(self) -> int: ...

class MappedFile:
    def __init__(self, path: str) -> None: ...
    @property
    def is_whole(self) -> bool: ...
    def bytes(self) -> object: ...

def keep_blocks_in(folder: str, most_bytes: int) -> None: ...
def bytes_in_files() -> int: ...
def resident_file_bytes() -> int: ...
def give_pages_back() -> None: ...
def bound_pages(most_bytes: int) -> None: ...

class BusyTimes:
    def __init__(
        self,
        waves: object,
        instructions: object,
        rules: object,
        busy_of_row: object,
        more: object,
        more_pipe: int,
        unit_count: int,
    ) -> None: ...
    def covered(self, unit: int, kind: int, bins: tuple[int, int, int], end: int) -> Table: ...
    def total(self, unit: int, kind: int) -> int: ...

class StateCounts:
    def __init__(
        self, begin: object, first: object, count: object, states: object, durations: object, origin: int
    ) -> None: ...
    def bins(self, bins: tuple[int, int, int], end: int, kinds: bytes) -> Table: ...

def row_cycles(
    waves: object, instructions: object, is_matrix: object, row_count: int, begin: int, end: int
) -> Table: ...
def stall_of_waves(waves: object, stall_cycles: object) -> Table: ...
def executed_pyramid(
    layer: tuple[int, int, int, int, bool], waves: object, instructions: object, is_matrix: object
) -> SpanPyramid: ...
def issued_pyramid(
    layer: tuple[int, int, int, int, bool],
    waves: object,
    instructions: object,
    is_matrix: object,
    pipes: object,
    tracks: object,
    pipe_count: int,
) -> SpanPyramid: ...
def state_pyramid(layer: tuple[int, int, int, int, bool], waves: object, states: object) -> SpanPyramid: ...
def stalled_pyramid(
    layer: tuple[int, int, int, int, bool], waves: object, instructions: object, group: object, kind_of_group: object
) -> SpanPyramid: ...

class StalledCycles:
    def __init__(self, waves: object, instructions: object, track_count: int, kept: tuple[int, int, int]) -> None: ...
    def bins(self, bins: tuple[int, int, int]) -> Table: ...

class Stopped(Exception): ...  # noqa: N818

class StopSwitch:
    def __init__(self) -> None: ...
    def stop(self) -> None: ...
    def enter(self) -> None: ...
    def leave(self) -> None: ...
    @staticmethod
    def current() -> StopSwitch: ...
