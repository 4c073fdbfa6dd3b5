"""Sums that pictures of large traces are made of, against counting every cycle."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright import _core
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.pipes import BUBBLE, BUSY, RESIDENT
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace, TraceSource

SPAN = 600  # cycles
PASSES = [0, 40, 0, 4, 64]  # cycles that an instruction of each row occupies its pipe
PIPE_OF_CATEGORY = bytes([0, 1, 2] + [255] * 253)


def made_waves(random, rows_per_wave: int) -> pl.DataFrame:
    """Waves of two SIMDs on three tracks that overlap anyhow."""
    count = int(random.integers(1, 7))
    begin = random.integers(0, SPAN // 2, count)
    rows = random.integers(0, rows_per_wave, count)
    return pl.DataFrame(
        {
            "unit": pl.Series(random.integers(0, 2, count), dtype=pl.UInt32),
            "track": pl.Series(random.integers(0, 3, count), dtype=pl.UInt32),
            "time": pl.Series(random.integers(-3, 4, count), dtype=pl.Int64),
            "start_cycles": pl.Series(begin, dtype=pl.Int64),
            "end_cycles": pl.Series(begin + random.integers(0, SPAN // 2, count), dtype=pl.Int64),
            "first": pl.Series(np.cumsum(rows) - rows, dtype=pl.UInt64),
            "count": pl.Series(rows, dtype=pl.UInt32),
        }
    )


def made_instructions(random, waves: pl.DataFrame) -> pl.DataFrame:
    count = int(waves["count"].sum())
    stall = random.integers(0, 20, count)
    return pl.DataFrame(
        {
            "time_cycles": pl.Series(random.integers(0, SPAN - 80, count), dtype=pl.Int64),
            "stall_cycles": pl.Series(stall, dtype=pl.Int32),
            "duration_cycles": pl.Series(stall + random.integers(-2, 30, count), dtype=pl.Int32),
            "category": pl.Series(random.integers(0, 4, count), dtype=pl.UInt8),
            "row": pl.Series(random.integers(-1, 5, count), dtype=pl.Int32),
        }
    )


def of_waves(waves: pl.DataFrame, table: pl.DataFrame):
    """Every wave with its rows."""
    for wave in waves.iter_rows(named=True):
        yield wave, list(table.slice(wave["first"], wave["count"]).iter_rows(named=True))


def grids(random):
    """Bins of several widths, from several places on, up to an end inside the last one."""
    for bits in (0, 2, 5, 9):
        first = int(random.integers(0, max(1, (SPAN >> bits) - 1)))
        yield 1 << bits, first << bits, max(1, -(-SPAN >> bits) - first)


def binned(cycles, begin: int, width: int, count: int, end: int):
    """What a row of cycles has in each bin: all of it, the least, the most."""
    parts = [cycles[begin + bin_ * width : min(begin + (bin_ + 1) * width, end)] for bin_ in range(count)]
    return [part.sum() for part in parts], [part.min() for part in parts], [part.max() for part in parts]


@pytest.mark.parametrize("seed", range(12))
def test_waves_in_each_state_are_counted(seed):
    random = np.random.default_rng(seed)
    waves = made_waves(random, 12)
    count = int(waves["count"].sum())
    grain = int(random.choice([1, 4]))
    waves = waves.with_columns(pl.col("start_cycles") // grain * grain)
    states = pl.Series(random.integers(0, 5, count), dtype=pl.UInt8)
    durations = pl.Series(random.integers(0, 12, count) * grain, dtype=pl.Int32)
    truth = np.zeros((5, 4 * SPAN), dtype=np.int64)
    for wave, rows in of_waves(waves, pl.DataFrame({"state": states, "length": durations})):
        now = wave["start_cycles"]
        for row in rows:
            truth[row["state"], now : now + row["length"]] += 1
            now += row["length"]
    counts = _core.StateCounts(waves["start_cycles"], waves["first"], waves["count"], states, durations, 0)
    for width, begin, bins in grids(random):
        end = min(SPAN, begin + width * bins)
        got = pl.DataFrame(counts.bins((begin, width, bins), end, bytes(range(5))))
        for state in range(5):
            part = got.slice(state * bins, bins)
            assert tuple(map(list, part)) == tuple(map(list, binned(truth[state], begin, width, bins, end)))


@pytest.mark.parametrize("seed", range(12))
def test_pipes_issue_as_long_as_any_instruction_does(seed):
    random = np.random.default_rng(seed)
    waves = made_waves(random, 15)
    table = made_instructions(random, waves)
    more = pl.DataFrame({"unit": [1], "begin": [50], "end": [70]}, schema_overrides={"unit": pl.UInt32})
    more = more.filter(pl.lit(bool(seed % 2)))
    issues, busy = np.zeros((2, 2, 3, 2 * SPAN), dtype=bool)
    lives = np.zeros((2, 2 * SPAN), dtype=bool)
    origin = 10  # some begin before 0
    for wave, rows in of_waves(waves, table):
        begin, end = (wave[name] + wave["time"] + origin for name in ("start_cycles", "end_cycles"))
        lives[wave["unit"], begin:end] = True
        for row in rows:
            if row["category"] < 3:
                begin = row["time_cycles"] + wave["time"] + row["stall_cycles"] + origin
                length = max(row["duration_cycles"] - row["stall_cycles"], 4)
                issues[wave["unit"], row["category"], begin : begin + length] = 1
                passes = PASSES[row["row"]] if row["row"] >= 0 else 0
                busy[wave["unit"], row["category"], begin : begin + max(length, passes)] = 1
    for unit, begin, end in more.iter_rows():
        issues[unit, 2, begin + origin : end + origin] = 1
    of_row = pl.Series([], dtype=pl.UInt8)
    rules = _core.PipeRules(of_category=PIPE_OF_CATEGORY, of_row=of_row, short_pipes=0, issue_cycles=4)
    times = _core.BusyTimes(waves, table, rules, pl.Series(PASSES, dtype=pl.Int32), more, 2, 2)
    bubbles = lives & ~issues.any(axis=1)
    for unit in range(2):
        sets = dict(enumerate(issues[unit])) | {RESIDENT: lives[unit], BUBBLE: bubbles[unit]}
        outlasting = [BUSY + pipe for pipe in range(3) if times.total(unit, BUSY + pipe)]
        assert not any(
            (busy[unit, pipe] & ~issues[unit, pipe]).any() for pipe in range(3) if BUSY + pipe not in outlasting
        )
        sets |= {kind: busy[unit, kind - BUSY] for kind in outlasting}
        for kind, truth in sets.items():
            assert times.total(unit, kind) == truth.sum()
            for width, begin, bins in grids(random):
                got = pl.DataFrame(times.covered(unit, kind, (begin, width, bins), SPAN))["cycles"]
                assert got.to_list() == binned(truth[origin:], begin, width, bins, SPAN)[0]


@pytest.mark.parametrize("seed", range(8))
def test_stalls_and_rows_are_added_up(seed):
    random = np.random.default_rng(seed)
    waves = made_waves(random, 15)
    table = made_instructions(random, waves)
    stalled = np.zeros((3, 2 * SPAN), dtype=np.int64)
    cycles, executions = np.zeros((6, 16), dtype=np.int64), np.zeros((6, 16), dtype=np.int64)
    of_wave = []
    for wave, rows in of_waves(waves, table):
        of_wave.append(sum(row["stall_cycles"] for row in rows))
        for row in rows:
            begin = row["time_cycles"] + wave["time"]
            length = max(row["stall_cycles"], row["duration_cycles"], 0)
            stalled[wave["track"], max(begin, 0) : max(begin + row["stall_cycles"], 0)] += 1
            place = row["row"] + 1, 15 if row["row"] == 2 else row["category"]
            cycles[place] += length
            executions[place] += 1
    matrix = pl.Series([0, 0, 1, 0, 0], dtype=pl.UInt8)
    sums = pl.DataFrame(_core.row_cycles(waves, table, matrix, 5))
    assert sums["cycles"].to_list() == cycles.ravel().tolist()
    assert sums["count"].to_list() == executions.ravel().tolist()
    assert pl.DataFrame(_core.stall_of_waves(waves, table["stall_cycles"])).to_series().to_list() == of_wave
    for kept in ((0, 1, SPAN), (0, 8, SPAN // 8), (0, 512, 2)):
        shares = _core.StalledCycles(waves, table, 3, kept)
        for width, begin, bins in grids(random):
            got = pl.DataFrame(shares.bins((begin, width, bins)))["cycles"].to_numpy().reshape(3, bins)
            whole = begin + width * bins
            truth = [binned(stalled[track], begin, width, bins, whole)[0] for track in range(3)]
            inside = kept[0] + kept[1] * kept[2] >= whole or width < kept[1]
            assert not inside or got.tolist() == [list(row) for row in truth]


def test_hidden_time_of_a_trace_in_batches_is_that_of_its_copies():
    texts = ["v_add_f32 v0, v0, v1", "global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)", "s_add_u32 s0, s0, 1"]
    categories = ["VALU", "VMEM", "IMMED", "SALU"]
    steps = [
        (n % 4, categories[n % 4], 7 * n + 3 * wave, n % 5, n % 5 + 4 + n % 9, wave)
        for wave in range(3)
        for n in range(900)
    ]
    one = small_trace(texts, steps)
    copies = 150  # 405,000 instructions: more than two batches
    apart = 20_000

    def repeated(name: str, *moved: str) -> pl.DataFrame:
        table = one.table(name)
        parts = [
            table.with_columns(
                pl.col("wave") + 3 * copy,
                *(pl.col(column) + apart * copy for column in moved),
                *(pl.col(c) + one.instructions.height * copy for c in ("first_instruction",) if c in table.columns),
            )
            for copy in range(copies)
        ]
        return pl.concat(parts).cast(THREAD_TRACE[name].dtypes)

    tables = one.tables | {
        "instructions": repeated("instructions", "time_cycles"),
        "waves": repeated("waves", "start_cycles", "end_cycles"),
    }
    many = ThreadTrace(tables, TraceSource(path="made", target="gfx942"))
    sums = [name for name in row_costs(one).columns if name.endswith(("_total", "_count"))]
    expected = row_costs(one).select("row", pl.col(sums) * copies)
    assert row_costs(many).select("row", *sums).equals(expected)


def test_work_that_nobody_waits_for_ends():
    switch = _core.StopSwitch()
    waves = made_waves(np.random.default_rng(1), 15)
    table = made_instructions(np.random.default_rng(1), waves)
    switch.enter()
    try:
        assert pl.DataFrame(_core.row_cycles(waves, table, pl.Series([], dtype=pl.UInt8), 5)).height
        switch.stop()
        with pytest.raises(_core.Stopped):
            _core.row_cycles(waves, table, pl.Series([], dtype=pl.UInt8), 5)
    finally:
        switch.leave()
    assert pl.DataFrame(_core.row_cycles(waves, table, pl.Series([], dtype=pl.UInt8), 5)).height
