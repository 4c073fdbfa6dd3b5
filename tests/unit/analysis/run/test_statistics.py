"""Statistics that merge: the same result whatever the parts, and right."""

from __future__ import annotations

import pickle
import random

import polars as pl
from polars.testing import assert_frame_equal

from tests.kit.together import together
from wavewright.analysis.run.measures.statistics import (
    EXACT_VALUES,
    QUANTILE_ERROR,
    Statistics,
    described,
    merged,
    merged_packed,
    statistics_of,
)
from wavewright.model.run_tables import LONGEST_NS


def events(seed: int, rows: int, *, names: int = 3, longest: int = 10**7) -> pl.DataFrame:
    chance = random.Random(seed)
    begins = [chance.randrange(10**12) for _ in range(rows)]
    lengths = [int(longest ** chance.random()) for _ in range(rows)]
    return pl.DataFrame(
        {
            "name": pl.Series([f"k{chance.randrange(names)}" for _ in range(rows)]).cast(pl.Categorical),
            "process": pl.Series([0] * rows, dtype=pl.UInt32),
            "start_ns": begins,
            "end_ns": [begin + length for begin, length in zip(begins, lengths, strict=True)],
        }
    )


def told(statistics: Statistics) -> bytes:
    rows = described(statistics).with_columns(pl.col("name").cast(pl.String)).sort("name")
    return rows.write_json().encode()


@together("rows", [1, 7, 900, 60_000])
def test_parts_do_not_matter(rows: int) -> None:
    frame = events(rows, rows)
    whole = told(statistics_of([frame], ["name"]))
    for cuts in (2, 5):
        size = -(-rows // cuts)
        parts = [statistics_of([frame.slice(at, size)], ["name"]) for at in range(0, rows, size)]
        assert told(merged(parts, ["name"])) == whole
        assert told(merged(list(reversed(parts)), ["name"])) == whole
    pieces = [frame.slice(at, 1000) for at in range(0, rows, 1000)]
    assert told(statistics_of(pieces, ["name"])) == whole


def test_figures() -> None:
    frame = events(3, 5_000, longest=2_000)
    found = described(statistics_of([frame], ["name"])).sort("name")
    length = pl.col("end_ns") - pl.col("start_ns")
    expected = frame.group_by("name").agg(
        calls=pl.len().cast(pl.Int64),
        total_ns=length.sum(),
        mean_ns=length.mean(),
        median_ns=length.median(),
        p95_ns=length.quantile(0.95, "linear"),
        p99_ns=length.quantile(0.99, "linear"),
        min_ns=length.min(),
        max_ns=length.max(),
        stddev_ns=length.std(),
    )
    assert_frame_equal(found.select(expected.columns), expected.sort("name"), rel_tol=1e-12)
    assert found["is_exact"].all()


def test_many_values_are_near() -> None:
    frame = events(5, 40_000, names=1, longest=10**9)
    found = described(statistics_of([frame], ["name"])).row(0, named=True)
    lengths = (frame["end_ns"] - frame["start_ns"]).to_list()
    assert len(set(lengths)) > EXACT_VALUES
    assert not found["is_exact"]
    for column, share in (("median_ns", 0.5), ("p95_ns", 0.95), ("p99_ns", 0.99)):
        true = pl.Series(lengths).quantile(share, "linear")
        assert true is not None
        assert abs(found[column] - true) <= true * QUANTILE_ERROR
    assert found["total_ns"] == sum(lengths)


def test_exact_up_to_the_limit() -> None:
    def lasting(values: range) -> pl.DataFrame:
        return pl.DataFrame({"name": ["k"] * len(values), "start_ns": [0] * len(values), "end_ns": list(values)})

    below = statistics_of([lasting(range(1000, 1000 + EXACT_VALUES))], ["name"])
    above = statistics_of([lasting(range(1000, 1001 + EXACT_VALUES))], ["name"])
    assert below.sums["is_exact"].to_list() == [True]
    assert above.sums["is_exact"].to_list() == [False]
    assert described(below)["median_ns"].item() == 1000 + (EXACT_VALUES - 1) / 2


def test_the_deviation_of_long_and_close_durations_is_exact() -> None:
    base = 10**15
    frame = pl.DataFrame({"name": ["k"] * 3, "start_ns": [0] * 3, "end_ns": [base, base + 1, base + 2]})
    assert described(statistics_of([frame], ["name"]))["stddev_ns"].item() == 1.0


def test_one_call_has_no_deviation() -> None:
    frame = pl.DataFrame({"name": ["k"], "start_ns": [0], "end_ns": [4]})
    assert described(statistics_of([frame], ["name"]))["stddev_ns"].to_list() == [None]


def test_impossible_times_count_without_time() -> None:
    far = (1 << 63) - 1
    frame = pl.DataFrame(
        {
            "name": ["k"] * 6,
            "start_ns": [5, 10, -far, 0, None, 0],
            "end_ns": [9, 3, far, LONGEST_NS, 7, None],
        }
    )
    row = described(statistics_of([frame], ["name"])).row(0, named=True)
    assert (row["calls"], row["untimed_calls"], row["total_ns"], row["max_ns"]) == (6, 5, 4, 4)


def test_without_any_time() -> None:
    frame = pl.DataFrame({"name": ["k"], "start_ns": [5], "end_ns": [1]})
    row = described(statistics_of([frame], ["name"])).row(0, named=True)
    assert (row["total_ns"], row["mean_ns"], row["median_ns"], row["min_ns"]) == (0, None, None, None)


def test_sums_beyond_64_bits_are_not_wrong() -> None:
    rows = 5_000
    frame = pl.DataFrame({"name": ["k"] * rows, "start_ns": [0] * rows, "end_ns": [LONGEST_NS - 1] * rows})
    row = described(statistics_of([frame], ["name"])).row(0, named=True)
    assert row["total_ns"] is None
    assert row["mean_ns"] == LONGEST_NS - 1
    assert row["stddev_ns"] == 0.0


def test_keys_that_are_null_or_words_or_far_apart() -> None:
    frame = pl.DataFrame(
        {
            "name": ["a", None, "a", None],
            "number": [0, (1 << 62), 0, None],
            "other": [-(1 << 62), 1, -(1 << 62), 1],
            "start_ns": [0] * 4,
            "end_ns": [1, 2, 3, 4],
        }
    )
    keys = ["name", "number", "other"]
    found = described(statistics_of([frame, frame], keys)).sort("max_ns")
    assert found.select(*keys, "calls", "total_ns").rows() == [
        (None, 1 << 62, 1, 2, 4),
        ("a", 0, -(1 << 62), 4, 8),
        (None, None, 1, 2, 8),
    ]


def test_sizes() -> None:
    frame = pl.DataFrame(
        {"name": ["a", "a", "b"], "start_ns": [0] * 3, "end_ns": [1] * 3, "size_bytes": [4, None, None]}
    )
    found = described(statistics_of([frame], ["name"])).sort("name")
    assert found["bytes_total"].to_list() == [4, None]
    assert found["sized_calls"].to_list() == [1, 0]


def test_rates_are_over_calls_that_have_a_size() -> None:
    """Long copies without a size or with 0, one with a size and no end, and two that moved 300 bytes in 30 ns."""
    events = pl.DataFrame(
        {
            "name": ["a"] * 5,
            "start_ns": [0, 100, 200, 300, 400],
            "end_ns": [90, None, 210, 320, 499],
            "size_bytes": [None, 5_000, 100, 200, 0],
        }
    )
    halves = [statistics_of([half], ["name"]) for half in (events[:3], events[3:])]
    for found in (statistics_of([events], ["name"]), merged(halves, ["name"]), merged(halves, [])):
        row = described(found).row(0, named=True)
        assert (row["calls"], row["sized_calls"], row["bytes_total"]) == (5, 3, 5_300)
        assert row["bytes_per_second"] == 300 / 30 * 1e9


def test_a_part_travels() -> None:
    part = statistics_of([events(1, 100)], ["name"])
    again = pickle.loads(pickle.dumps(part.packed()))  # noqa: S301 - our own
    assert told(again.unpacked()) == told(part)


def test_packed_parts_are_merged_a_few_at_a_time() -> None:
    frames = [events(seed, 300) for seed in range(40)]
    packed = [statistics_of([frame], ["name"]).packed() for frame in frames]
    assert told(merged_packed(packed, ["name"])) == told(statistics_of([pl.concat(frames)], ["name"]))
