"""What the ui_output writer does with waves and code where no official directory shows it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from tests.kit.made_traces import CODE, made, one_wave
from tests.kit.ui_directories import frame, read_json
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.model.trace import ThreadTrace, TraceSource

if TYPE_CHECKING:
    from pathlib import Path

NASTY = 'a "quoted"\\ \n../../etc/passwd \x1b[31m\u2028<script>'


def code_lines(directory: Path) -> list[list[Any]]:
    rows: list[list[Any]] = read_json(directory / "code.json")["code"]
    return rows


def test_an_empty_trace_is_a_placeholder_directory(tmp_path: Path) -> None:
    directory = write_ui_output(ThreadTrace({}, TraceSource(path="nothing")), tmp_path)
    assert directory.name == "ui_output_agent_0_dispatch_0"
    assert sorted(path.name for path in directory.iterdir()) == ["code.json", "filenames.json", "occupancy.json"]
    assert read_json(directory / "code.json")["code"] is None
    assert read_json(directory / "filenames.json")["wave_filenames"] is None
    assert (tmp_path / f"stats_{directory.name}.csv").read_text().splitlines() == [
        '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"'
    ]


def test_one_wave_as_in_the_format_description(tmp_path: Path) -> None:
    directory = write_ui_output(made([one_wave()]), tmp_path)
    assert read_json(directory / "se0_sm0_sl0_wv0.json") == {
        "name": "SE0",
        "duration": 148,
        "num_insts": 3,
        "num_stitched": 3,
        "wave": {
            "begin": 1000,
            "end": 1148,
            "cu": 1,
            "simd": 0,
            "slot": 0,
            "id": 0,
            "instructions": [[1032, 1, 0, 4, 1], [1036, 9, 100, 100, 2], [1136, 11, 4, 8, 3]],
            "timeline": [[1, 32], [2, 4], [3, 100], [4, 4], [2, 8]],
            "waitcnt": [[2, [[1, 0]]]],
        },
    }
    assert code_lines(directory)[:3] == [
        ["; main_kernel", 0, 0, "", 7, 256, 0, 0, 0, 0],
        ["s_load_dword s2, s[0:1], 0x0", 0, 1, "/src/a.py:4", 7, 256, 1, 4, 0, 32],
        ["s_waitcnt lgkmcnt(0)", 0, 2, "/src/b.h:9 -> /src/a.py:5", 7, 260, 1, 100, 100, 0],
    ]


def test_functions_stand_in_the_order_in_which_waves_touch_them(tmp_path: Path) -> None:
    late = one_wave()
    late["instructions"] = [(1032, 0, 4, 2, 4), *late["instructions"]]
    late["waits"] = []
    directory = write_ui_output(made([late]), tmp_path)
    assert [(row[0], row[2]) for row in code_lines(directory)] == [
        ("; helper", 0),
        ("s_nop 0", 1),
        ("s_setpc_b64 s[30:31]", 2),
        ("; main_kernel", 3),
        (CODE["text"][0], 4),
        (CODE["text"][1], 5),
        (CODE["text"][2], 6),
    ]
    lines = [token[4] for token in read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]["instructions"]]
    assert lines == [2, 4, 5, 6]
    with (tmp_path / f"stats_{directory.name}.csv").open(newline="") as stream:
        addresses = [int(row["Vaddr"]) for row in csv.DictReader(stream)]
    assert addresses == [256, 256, 260, 264, 512, 512, 516]


def test_a_label_has_the_signature_even_of_a_function_that_is_no_kernel(tmp_path: Path) -> None:
    code = frame("code", CODE | {"function": ["_Z6helperPKDF16b"] * 6})
    directory = write_ui_output(made([one_wave()], code=code), tmp_path)
    assert code_lines(directory)[0][:4] == ["; _Z6helperPKDF16b", 0, 0, "helper(std::bfloat16_t const*)"]


def test_code_without_a_function_has_no_label_and_never_line_zero(tmp_path: Path) -> None:
    code = frame("code", CODE | {"function": [None] * 6})
    directory = write_ui_output(made([one_wave()], code=code), tmp_path)
    assert [row[2] for row in code_lines(directory)] == [1, 2, 3, 4, 5, 6]


def test_instructions_without_a_pc_get_line_zero_and_no_totals(tmp_path: Path) -> None:
    wave = one_wave()
    wave["instructions"][0] = (1032, 0, 4, 1, -1)
    directory = write_ui_output(made([wave | {"waits": [(1, 0, "lgkmcnt")]}]), tmp_path)
    written = read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]
    assert written["instructions"][0] == [1032, 1, 0, 4, 0]
    assert written["waitcnt"] == [[2, [[0, 0]]]]
    assert [row[6] for row in code_lines(directory)] == [0, 0, 1, 1]


def test_waves_that_say_nothing_are_dropped_and_do_not_count(tmp_path: Path) -> None:
    silent = {"begin": 4, "end": 8, "states": [(1, 2), (2, 2)]}
    timed = {"begin": 8, "end": 20, "states": [(1, 4), (2, 4), (1, 4)]}
    directory = write_ui_output(made([silent, timed, silent, one_wave()]), tmp_path)
    waves = read_json(directory / "filenames.json")["wave_filenames"]
    assert waves == {
        "0": {"0": {"0": {"0": ["se0_sm0_sl0_wv0.json", 8, 20], "1": ["se0_sm0_sl0_wv1.json", 1000, 1148]}}}
    }
    written = read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]
    assert written["instructions"] is None
    assert written["waitcnt"] is None
    assert read_json(directory / "wstates1.json") == {
        "name": "wstates1.json",
        "time": [8, 12, 16, 20, 1000, 1032],
        "state": [1, 0, 1, 0, 1, 0],
    }


def test_one_entry_per_counter_of_a_wait(tmp_path: Path) -> None:
    wave = one_wave()
    wave["waits"] = [(1, 0, "lgkmcnt"), (1, 2, "vmcnt"), (1, 0, "vmcnt")]
    directory = write_ui_output(made([wave]), tmp_path)
    written = read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]["waitcnt"]
    assert written == [[2, [[1, 0]]], [2, [[3, 0], [1, 0]]]]


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    code = frame("code", CODE | {"function": [NASTY] * 6, "text": [NASTY] * 6})
    directory = write_ui_output(made([one_wave()], code=code), tmp_path)
    assert code_lines(directory)[0][:4] == ["; " + NASTY, 0, 0, ""]
    with (tmp_path / f"stats_{directory.name}.csv").open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[1][2] == "; " + NASTY
    assert {len(row) for row in rows} == {8}
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"stats_{directory.name}.csv", directory.name]


def test_large_numbers_are_not_cut(tmp_path: Path) -> None:
    far = 1 << 62
    wave = {"begin": far, "end": far + 8, "instructions": [(far, 2**31 - 1, 2**31 - 1, 9, 1)] * 3}
    directory = write_ui_output(made([wave]), tmp_path)
    assert read_json(directory / "se0_sm0_sl0_wv0.json")["wave"]["instructions"][2][0] == far
    assert code_lines(directory)[2][6:] == [3, 3 * (2**31 - 1), 3 * (2**31 - 1), 0]
