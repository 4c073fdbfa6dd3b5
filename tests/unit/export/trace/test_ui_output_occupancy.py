"""occupancy.json: kernel names, kernel numbers and schema 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tests.kit.made_traces import made, one_wave
from tests.kit.ui_directories import frame, read_json
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.export.trace.ui_output.kernel_ids import KernelIds, decode_order

if TYPE_CHECKING:
    from pathlib import Path


def occupancy_frame(**columns: list[Any]) -> pl.DataFrame:
    places = {"se": [2, 10, 2], "time_cycles": [8, 4, 12], "cu": [1, 1, 1], "simd": [0, 0, 0], "slot": [9, 0, 9]}
    entries = {"start": [True, True, False], "code_object": [7, 7, 7], "address": [256, 260, 256]}
    flags = {"me": [1, 0, 0], "pipe": [2, 0, 0], "is_ext": [True, False, False], "workgroup": [5, 0, 0]}
    return frame("occupancy", places | entries | flags | columns, cluster=0)


def test_kernels_are_named_by_the_symbol_that_starts_at_the_entry(tmp_path: Path) -> None:
    directory = write_ui_output(made([one_wave()], occupancy=occupancy_frame()), tmp_path)
    assert read_json(directory / "occupancy.json") == {
        "2": [[8, 1, 0, 9, 1, 1], [12, 1, 0, 9, 0, 1]],
        "10": [[4, 1, 0, 0, 1, 2]],
        "dispatches": {"0": "0 / 0x0", "1": "main_kernel", "2": "7 / 0x104"},
        "version": "3.0.0",
    }


def test_kernels_without_known_code_keep_the_name_of_the_kernels_table(tmp_path: Path) -> None:
    trace = made([], occupancy=occupancy_frame(code_object=[7, 7, None], address=[256, 260, None]))
    trace.tables["code"] = trace.tables["code"].clear()
    directory = write_ui_output(trace, tmp_path)
    names = {"0": "0 / 0x0", "1": "main_kernel", "2": "7 / 0x104"}
    assert read_json(directory / "occupancy.json")["dispatches"] == names
    assert read_json(directory / "occupancy.json")["2"][1][5] == 0


def test_kernel_numbers_go_on_in_the_next_directory(tmp_path: Path) -> None:
    kernel_ids = KernelIds()
    first = occupancy_frame(code_object=[7, 7, 7], address=[512, 512, 512])
    write_ui_output(made([], dispatch=2, occupancy=first), tmp_path, kernel_ids=kernel_ids)
    directory = write_ui_output(made([], dispatch=1, occupancy=occupancy_frame()), tmp_path, kernel_ids=kernel_ids)
    occupancy = read_json(directory / "occupancy.json")
    assert occupancy["dispatches"] == {"0": "0 / 0x0", "1": "helper", "2": "main_kernel", "3": "7 / 0x104"}
    assert [row[5] for row in occupancy["2"]] == [2, 2]


def test_the_order_of_rocprofv3_is_that_of_its_hash_table() -> None:
    # Printed by a program that fills a std::unordered_map<uint64_t, int> of libstdc++ 12.
    assert decode_order([1, 3]) == [3, 1]
    assert decode_order([1, 14, 27, 3]) == [3, 27, 14, 1]
    assert decode_order(range(1, 15)) == [14, *range(1, 14)]
    assert decode_order([]) == []


def test_schema_3_1_adds_columns_dispatches_and_events(tmp_path: Path) -> None:
    dispatches = frame(
        "dispatches",
        {"se": [2], "time_cycles": [7], "code_object": [7], "address": [256], "vgprs": [24]},
        **dict.fromkeys(("me", "pipe", "user_sgprs", "flags", "sgprs", "lds_bytes"), 1),
        **{f"workgroup_size_{axis}": 64 for axis in "xyz"},
    )
    events = frame(
        "events", {"se": [2], "time_cycles": [5], "type": [7]}, **dict.fromkeys(("me", "pipe", "flags", "payload"), 0)
    )
    trace = made([one_wave()], occupancy=occupancy_frame(), dispatches=dispatches, events=events)
    directory = write_ui_output(trace, tmp_path, schema="3.1")
    occupancy = read_json(directory / "occupancy.json")
    assert occupancy["version"] == "3.1.0"
    assert occupancy["2"][0] == [8, 1, 0, 9, 1, 1, 1, 2, 1, 5, 0]
    assert len(occupancy["occupancy_fields"]) == 11
    assert [event["kind"] for event in occupancy["events"]["2"]] == ["event", "dispatch"]
    assert occupancy["events"]["2"][1]["entry_point"] == {"code_object_id": 7, "address": 256}
    assert occupancy["events"]["2"][1]["kernel_name"] == "main_kernel"
    assert read_json(directory / "filenames.json")["version"] == "3.1.0"
    assert "me_id" in read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]
