"""A decoded directory as it should be, and its variants by other writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tests.unit.readers.trace.ui_output.made import HEADER, OTHER_WAVE, WAVE, directory, kinds, opened, wave, written
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.folder import Directory
from wavewright.readers.trace.ui_output import read_ui_output

if TYPE_CHECKING:
    from pathlib import Path


def test_every_table_has_the_declared_columns(tmp_path: Path) -> None:
    trace = opened(tmp_path, directory())
    for name, spec in THREAD_TRACE.items():
        declared = {column.name: getattr(pl, column.dtype) for column in spec.columns}
        assert dict(trace.table(name).schema) == declared, name
    assert kinds(trace) == {}


def test_what_the_directory_is(tmp_path: Path) -> None:
    trace = opened(tmp_path, directory())
    source = trace.source
    assert (source.format, source.agent, source.dispatch, source.target) == ("ui_output", 17, 4, None)
    assert trace.gfxip == 9
    assert trace.shader_engines.select("se", "realtime_hz", "target_cu").rows() == [(0, 10**8, 1), (1, 10**8, 1)]


def test_waves_instructions_and_states(tmp_path: Path) -> None:
    trace = opened(tmp_path, directory())
    places = trace.waves.select("wave", "se", "cu", "simd", "slot", "slot_wave", "start_cycles", "end_cycles", "kernel")
    assert places.rows() == [(0, 0, 1, 2, 5, 0, 1000, 1148, 0), (1, 1, 1, 0, 0, 0, 2000, 2148, 0)]
    assert trace.waves["complete"].all()
    assert trace.instructions.head(2).rows() == [(0, 1032, 0, 4, 1, 0), (0, 1036, 100, 100, 9, 1)]
    assert trace.waves.select("first_instruction", "instruction_count").rows() == [(0, 4), (4, 4)]
    assert trace.states.head(1).rows() == [(0, 1, 32)]
    assert trace.waits.rows() == [(0, 1, 1, 0, 0, "lgkmcnt"), (1, 5, 1, 4, 0, "lgkmcnt")]


def test_code(tmp_path: Path) -> None:
    code = opened(tmp_path, directory()).code
    assert code["row"].to_list() == [0, 1, 2, 3]
    assert code["class"].to_list() == ["smem_load", "wait", "valu", "end"]
    assert code["mnemonic"].to_list()[0] == "s_load_dwordx2"
    assert code["function"].unique().to_list() == ["demo_kernel"]
    assert code["size"].to_list() == [8, 4, 4, None]
    assert code.select("file", "line").rows() == [
        ("/src/demo.py", 4),
        ("/src/demo.py", 4),
        ("/src/util.py", 9),
        ("/src/demo.py", None),
    ]
    assert code["inline_chain"][2] == "/src/util.py:9 -> /src/demo.py:5"


def test_stored_totals(tmp_path: Path) -> None:
    stored = opened(tmp_path, directory()).stored_totals
    assert stored.rows()[:2] == [(0, 2, 8, 0, 64), (1, 2, 200, 200, 0)]


def test_kernels_are_those_that_occur(tmp_path: Path) -> None:
    files = directory()
    files["occupancy.json"]["dispatches"] |= {"1": "never_ran", "4": "7 / 0x10c", "5": "9 / 0x40"}
    files["occupancy.json"]["1"] += [[2200, 2, 0, 0, 1, 4], [2210, 2, 0, 0, 1, 5], [2220, 2, 0, 0, 1, 99]]
    trace = opened(tmp_path, files)
    assert trace.kernels.select("kernel", "name", "code_object", "address").rows() == [
        (0, "demo_kernel", 7, 256),
        (1, "demo_kernel", 7, 268),
        (2, "9 / 0x40", 9, 64),
    ]
    assert trace.occupancy["kernel"].to_list() == [0, None, 0, None, 0, 0, 1, 2, None]
    assert trace.occupancy["address"].to_list()[:2] == [256, 0]


def test_without_occupancy_the_labels_name_the_kernels(tmp_path: Path) -> None:
    files = directory()
    del files["occupancy.json"]
    trace = opened(tmp_path, files)
    assert trace.kernels.select("name", "code_object", "address").rows() == [("demo_kernel", 7, 256)]
    assert trace.waves["kernel"].null_count() == 2
    assert kinds(trace) == {"missing_files": 1}


def test_schema_3_1(tmp_path: Path) -> None:
    files = directory()
    files["occupancy.json"] = {
        "version": "3.1.0",
        "dispatches": {"1": "demo_kernel"},
        "occupancy_fields": [],
        "0": [[1000, 1, 2, 5, 1, 1, 2, 3, True, 4, 5], [1148, 1, 2, 5, 0, 1]],
        "events": {
            "0": [
                {"kind": "dispatch", "time": 900, "me_id": 1, "pipe_id": 2, "kernel_id": 1, "vgprs": 32, "sgprs": 16,
                 "lds_size": 512, "user_sgprs": 8, "thread_dim_x": 64, "thread_dim_y": 1, "flags": 9},
                {"kind": "event", "time": 950, "type": 6, "me_id": 0, "pipe_id": 1, "flags": 2, "payload": 77},
                {"kind": "event", "time": 950, "type": 600},
                {"kind": "surprise"},
                "no object",
            ]
        },
    }  # fmt: skip
    files[WAVE] = wave(me_id=1, pipe_id=2, workgroup_id=3, cluster_id=4)
    trace = opened(tmp_path, files)
    row = trace.occupancy.row(0, named=True)
    assert (row["me"], row["pipe"], row["is_ext"], row["workgroup"], row["cluster"]) == (2, 3, True, 4, 5)
    assert trace.dispatches.select("se", "time_cycles", "kernel", "vgprs", "lds_bytes", "address").rows() == [
        (0, 900, 0, 32, 512, 256)
    ]
    assert trace.events.rows() == [(0, 950, 6, 0, 1, 2, 77)]
    assert trace.waves.select("me", "pipe", "workgroup", "cluster").rows()[0] == (1, 2, 3, 4)
    assert kinds(trace) == {"malformed_rows": 3}


def test_old_writers_do_not_say_the_cu(tmp_path: Path) -> None:
    files = directory()
    for name in (WAVE, OTHER_WAVE):
        del files[name]["wave"]["cu"]
    del files["realtime.json"]
    trace = opened(tmp_path, files)
    assert trace.waves["cu"].to_list() == [1, 1]
    assert trace.waves["kernel"].to_list() == [0, 0]
    assert trace.shader_engines["realtime_hz"].to_list() == [0, 0]
    assert kinds(trace) == {}


def test_header_as_a_list_in_another_order(tmp_path: Path) -> None:
    files = directory()
    files["code.json"] = {
        "header": ["Vaddr", "Codeobj", "Source", "LineNumber", "ISA", "Hit", "Latency", "Stall", "Idle"],
        "code": [[256, 7, None, 0, ";  _Z1fv", 0, 0, 0, 0], [256, 7, None, 1, "s_endpgm", 3, 4, 5, 6]],
    }
    trace = opened(tmp_path, files)
    assert trace.code.select("address", "text", "function", "file").rows() == [(256, "s_endpgm", "_Z1fv", None)]
    assert trace.stored_totals.rows() == [(0, 3, 4, 5, 6)]


def test_labels_begin_functions_wherever_they_stand(tmp_path: Path) -> None:
    files = directory()
    row = [0, 1, "", 7, 0, 0, 0, 0, 0]
    texts = ["s_nop 0", "; first", "s_nop 1", "; second", "s_nop 2"]
    files["code.json"]["code"] = [[text, 0, at, "", 7, 4 * at, 0, 0, 0, 0] for at, text in enumerate(texts)]
    files["code.json"]["code"].append(["s_nop 3", *row[:1], 9, "", 8, 0, 0, 0, 0, 0])
    assert opened(tmp_path, files).code["function"].to_list() == [None, "first", "second", None]


def test_pc_sampling_of_the_newer_writer(tmp_path: Path) -> None:
    files = directory()
    manifest = files["filenames.json"] | {"pc_sampling": True, "thread_trace": False, "wave_filenames": None}
    header = HEADER + ", ServiceType, Issued, Stalled, NotIssuedReasons"
    rows = [
        ["; demo", 0, 0, "", 7, 0, 0, 0, 0, 0, 0, 0, 0, []],
        ["s_waitcnt vmcnt(0)", 0, 1, "/src/demo.py:4", 7, 0, 0, 0, 0, 0, 2, 3, 5, [0, 0, 1, 4]],
        ["s_endpgm", 0, 2, "", 7, 4, 0, 0, 0, 0, 2, 0, 0, []],
    ]
    trace = opened(tmp_path, {"filenames.json": manifest, "code.json": {"header": header, "code": rows}})
    assert trace.source.format == "PC sampling"
    assert trace.samples.rows() == [(0, 3, 5, 0)]
    assert trace.sample_reasons.rows() == [(0, "ALU dependency", 1), (0, "waitcnt", 4)]
    assert kinds(trace) == {}
    assert trace.gfxip == 9


def test_streams(tmp_path: Path) -> None:
    files = directory()
    files["filenames.json"] |= {
        "counter_names": ["SQ_WAVES", "SQ_INSTS_SALU:0x2", "c", "d", "e"],
        "other_simd_filenames": {"0": [["other_simd_se0_0.json", 1010, 1024]]},
        "shaderdata_filenames": {"1": [["shaderdata_1_0.json", 1050, 1120]]},
    }
    files["se0_perfcounter.json"] = {"data": [[1040, 3, 0, 16, 0, 1, 0], [1040, 1, 1, 0, 0, 1, 1]]}
    files["se1_perfcounter.json"] = ["data", [[1160, 2, 0, 12, 0, 1, 0]]]
    files["other_simd_se0_0.json"] = {
        "wgp": 131,
        "instructions_schema": ["category", "time", "duration"],
        "instructions": [[3, 1010, 4], [5, 1020, 4]],
    }
    files["shaderdata_1_0.json"] = {"records": [[1050, 6, 1, 2, 5, 0], [1100, 4294967295, 1, 2, 5, 2]]}
    trace = opened(tmp_path, files)
    assert trace.sampled_counters.rows()[1:] == [(0, 1040, 1, 1, 1, 1, 0, 0), (1, 1160, 1, 0, 2, 0, 12, 0)]
    assert trace.counter_names.rows()[1] == (0, 1, "SQ_INSTS_SALU:0x2")
    assert trace.counter_names.rows()[4] == (1, 0, "e")
    assert trace.other_simd.rows() == [(0, 1010, 4, 131, 3), (0, 1020, 4, 131, 5)]
    assert trace.shader_data.rows()[1] == (1, 1100, 4294967295, 1, 2, 5, 2)
    assert kinds(trace) == {}


def test_lists_that_are_null(tmp_path: Path) -> None:
    files = directory()
    files[WAVE] = wave(instructions=None, timeline=None, waitcnt=None)
    files["occupancy.json"]["1"] = None
    files["realtime.json"]["SE0"] = None
    files["se0_perfcounter.json"] = {"data": None}
    trace = opened(tmp_path, files)
    assert trace.waves["instruction_count"].to_list() == [0, 4]
    assert kinds(trace) == {}


def test_names_with_additions(tmp_path: Path) -> None:
    folder = written(tmp_path / "old_ui_output_agent_9_dispatch_44_after_loc_fix", directory())
    source = read_ui_output(Directory(folder)).source
    assert (source.agent, source.dispatch) == (9, 44)
    assert read_ui_output(Directory(written(tmp_path / "mine", directory()))).source.agent is None
