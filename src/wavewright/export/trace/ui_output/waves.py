"""The wave files `se<E>_sm<S>_sl<L>_wv<W>.json` and their list in the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

from wavewright.export.kit.json_text import encode, integer_rows_of_slices
from wavewright.export.trace.ui_output.lines import lines_of_rows
from wavewright.model.trace import ThreadTrace

#: Keys of `wave` -> columns.
_KEYS = {"begin": "start_cycles", "end": "end_cycles"} | {name: name for name in ("cu", "simd", "slot", "id")}
#: Keys that readers of schema 3.1 know -> columns of `waves`.
_EXTENDED_KEYS = {"me_id": "me", "pipe_id": "pipe", "workgroup_id": "workgroup", "cluster_id": "cluster"}


def kept_waves(trace: ThreadTrace) -> pl.DataFrame:
    """The waves that get a file, with `id` (their number in the slot) and `file_name`.

    Waves without instructions and with fewer than three states get none (spec_ui_output 9).
    """
    waves = trace.waves.filter((pl.col("instruction_count") > 0) | (pl.col("state_count") >= 3))
    place = ("se", "simd", "slot")
    with_ids = waves.with_columns(id=pl.int_range(pl.len()).over(place))
    return with_ids.with_columns(file_name=pl.format("se{}_sm{}_sl{}_wv{}.json", *place, "id"))


def wave_filenames(waves: pl.DataFrame) -> dict[str, Any] | None:
    """SE -> SIMD -> slot -> id -> [file name, start, end], as the manifest lists them."""
    tree: dict[str, Any] = {}
    columns = ("se", "simd", "slot", "id", "file_name", "start_cycles", "end_cycles")
    for se, simd, slot, number, name, start, end in waves.select(*columns).iter_rows():
        slots = tree.setdefault(str(se), {}).setdefault(str(simd), {})
        slots.setdefault(str(slot), {})[str(number)] = [name, start, end]
    return tree or None


def wave_files(
    trace: ThreadTrace, listing: pl.DataFrame, waves: pl.DataFrame, *, extended: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Name and content of the file of each wave in `waves` (from `kept_waves`)."""
    tokens = trace.instructions.select(
        *("time_cycles", "category", "stall_cycles", "duration_cycles"),
        lines_of_rows(listing, trace.instructions["row"]).alias("line"),
    )
    runs = trace.states.select("state", "duration_cycles")
    waits = _wait_texts(trace, listing)
    instructions = integer_rows_of_slices(tokens, waves.select("first_instruction", "instruction_count").iter_rows())
    timelines = integer_rows_of_slices(runs, waves.select("first_state", "state_count").iter_rows())
    keys = _KEYS | (_EXTENDED_KEYS if extended else {})
    for wave, instruction_text, timeline in zip(waves.iter_rows(named=True), instructions, timelines, strict=True):
        count = wave["instruction_count"]
        document = {
            "name": f"SE{wave['se']}",
            "duration": wave["end_cycles"] - wave["start_cycles"],
            "num_insts": count,
            "num_stitched": count,
            "wave": {key: wave[column] for key, column in keys.items()}
            | {
                "instructions": msgspec.Raw(instruction_text),
                "timeline": msgspec.Raw(timeline),
                "waitcnt": msgspec.Raw(waits.get(wave["wave"], b"null")),
            },
        }
        yield wave["file_name"], encode(document)


def _wait_texts(trace: ThreadTrace, listing: pl.DataFrame) -> dict[int, bytes]:
    """waves.wave -> JSON list of [line of the wait, [[line of a producer, 0], ...]], one per wait and counter."""
    waits = trace.waits.select("wave", "instruction", "counter").with_columns(
        line=lines_of_rows(listing, trace.waits["row"]),
        producer_line=lines_of_rows(listing, trace.waits["producer_row"]),
        entry=pl.struct("wave", "instruction", "counter").rle_id(),
    )
    texts = (
        waits.lazy()
        .group_by("entry", maintain_order=True)
        .agg(pl.col("wave", "line").first(), producers=pl.format("[{},0]", "producer_line").str.join(","))
        .group_by("wave", maintain_order=True)
        .agg(entries=pl.format("[{},[{}]]", "line", "producers").str.join(","))
        .select("wave", pl.format("[{}]", "entries").cast(pl.Binary))
        .collect()
    )
    return dict(texts.iter_rows())
