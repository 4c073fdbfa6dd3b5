"""Damaged, mixed and hostile directories: a result plus losses, or one clear error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from tests.unit.readers.trace.ui_output.made import OTHER_WAVE, WAVE, directory, kinds, opened, wave, written
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.readers.files.folder import Directory
from wavewright.readers.trace.ui_output import read_ui_output

if TYPE_CHECKING:
    from pathlib import Path


def messages(trace: Any) -> str:
    return "\n".join(trace.losses["message"].to_list())


def test_no_manifest(tmp_path: Path) -> None:
    files = directory()
    del files["filenames.json"]
    trace = opened(tmp_path, files)
    assert trace.waves["se"].to_list() == [0, 1]
    assert kinds(trace) == {"no_manifest": 1, "unlisted_files": 2, "unknown_generation": 1}
    assert trace.waits.is_empty()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"gfxip":' + b"9" * 5000 + b"}"])
def test_a_broken_manifest(content: bytes, tmp_path: Path) -> None:
    trace = opened(tmp_path, directory() | {"filenames.json": content})
    assert trace.waves.height == 2
    assert "no_manifest" in kinds(trace)


def test_a_manifest_that_lists_no_waves(tmp_path: Path) -> None:
    files = directory()
    files["filenames.json"]["wave_filenames"] = None
    trace = opened(tmp_path, files)
    assert trace.waves.height == 2
    assert kinds(trace) == {"unlisted_files": 2}


def test_missing_repeated_and_foreign_wave_files(tmp_path: Path) -> None:
    files = directory()
    slots = files["filenames.json"]["wave_filenames"]["0"]["2"]["5"]
    slots |= {"1": ["se0_sm2_sl5_wv1.json", 0, 1], "2": [WAVE, 1000, 1148], "3": "nonsense", "4": []}
    files["se0_sm0_sl0_wv7.json"] = wave(5000)
    trace = opened(tmp_path, files)
    assert trace.waves.height == 2
    assert kinds(trace) == {"missing_files": 1, "duplicate_waves": 1, "unlisted_files": 1}
    assert "se0_sm2_sl5_wv1.json" in messages(trace)


def test_the_same_wave_in_two_files(tmp_path: Path) -> None:
    files = directory()
    files["filenames.json"]["wave_filenames"]["0"]["2"]["5"]["1"] = ["copy.json", 1000, 1148]
    trace = opened(tmp_path, files | {"copy.json": wave()})
    assert trace.waves.height == 2
    assert row_totals(trace)["hit_count"].to_list() == [2, 2, 2, 2]
    assert kinds(trace) == {"duplicate_waves": 1}


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["../secret.json", "/etc/hostname", "link.json", "sub/wave.json", "pipe.json"])
def test_files_elsewhere_are_not_read(name: str, tmp_path: Path) -> None:
    import os

    files = directory()
    files["filenames.json"]["wave_filenames"]["0"]["2"]["5"]["0"] = [name, 0, 1]
    folder = written(tmp_path / "here", files)
    (tmp_path / "secret.json").write_text(json.dumps(wave(9000)))
    (folder / "sub").mkdir()
    (folder / "sub" / "wave.json").write_text(json.dumps(wave(9000)))
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(folder / "pipe.json")
    trace = read_ui_output(Directory(folder))
    assert trace.waves["start_cycles"].to_list() == [2000]
    assert kinds(trace)["missing_files"] == 1


def test_a_broken_wave_file_is_left_out_whole(tmp_path: Path) -> None:
    files = directory()
    text = json.dumps(files[WAVE])
    trace = opened(tmp_path, files | {WAVE: text[: len(text) // 2].encode()})
    assert trace.waves["se"].to_list() == [1]
    assert trace.instructions["wave"].unique().to_list() == [0]
    (loss,) = trace.losses.to_dicts()
    assert (loss["kind"], loss["byte_offset"]) == ("unreadable_json", len(text) // 2)
    assert WAVE in loss["message"]


def test_rows_that_do_not_exist(tmp_path: Path) -> None:
    files = directory()
    files[WAVE]["wave"]["instructions"] = [
        [1000, 1, 0, 4, 0],
        [1004, 1, 0, 4, 99],
        [1008, 1, 0, 4, 1 << 60],
        [1012, 1, 0, 4, -1],
    ]
    trace = opened(tmp_path, files)
    assert trace.instructions["row"].to_list()[:4] == [-1, -1, -1, -1]
    assert kinds(trace) == {"unresolved_pcs": 1, "unknown_rows": 3}
    assert trace.losses["se"].to_list() == [0, 0]


def test_impossible_times_are_kept_and_said(tmp_path: Path) -> None:
    files = directory()
    files[WAVE]["wave"]["instructions"] = [[-5, 1, 0, 4, 1], [1000, 1, -4, 4, 1], [1000, 1, 8, 4, 1]]
    trace = opened(tmp_path, files)
    assert trace.instructions["stall_cycles"].to_list()[:3] == [0, -4, 8]
    assert kinds(trace) == {"impossible_times": 3}


@pytest.mark.parametrize("base", [-(1 << 63), 1 << 49, (1 << 63) - 5000])
def test_times_beyond_all_clocks_are_said(tmp_path: Path, base: int) -> None:
    files = directory()
    files[WAVE]["wave"] |= {"begin": base, "end": base + 100, "instructions": [[base + 8, 1, 0, 4, 1]]}
    trace = opened(tmp_path, files)
    assert base + 8 in trace.instructions["time_cycles"]
    assert kinds(trace)["impossible_times"] == 1


def test_a_wave_that_ends_before_it_begins(tmp_path: Path) -> None:
    trace = opened(tmp_path, directory() | {WAVE: wave(end=1)})
    assert trace.waves.height == 1
    assert "ends before it starts" in messages(trace)


def test_numbers_that_do_not_fit(tmp_path: Path) -> None:
    files = directory()
    files[WAVE]["wave"]["instructions"][0] = [1032, 1, 1 << 40, 4, 1]
    files[OTHER_WAVE]["wave"]["cu"] = 70000
    files["occupancy.json"]["0"] += [[1, 300, 0, 0, 1, 0], [1, 0, 0, 0, 1], [1 << 70, 0, 0, 0, 1, 0], "x"]
    files["realtime.json"]["SE0"].append([1, -1])
    files["realtime.json"]["metadata"]["frequency"] = -3
    files["code.json"]["code"][1][6] = 1 << 70
    trace = opened(tmp_path, files)
    assert trace.waves.height == 1
    assert trace.instructions.height == 3
    assert trace.occupancy.height == 6
    assert trace.realtime.height == 4
    assert trace.code.height == 3
    assert set(kinds(trace)) == {"malformed_rows", "unreadable_json"}
    assert trace.losses.filter(pl.col("kind") == "malformed_rows")["count"].to_list() == [1, 4, 1, 1]


def test_malformed_code_rows(tmp_path: Path) -> None:
    files = directory()
    files["code.json"]["code"] += [
        None, [], ["s_nop 0", 0, "x", "", 7, 8], [3, 0, 9, "", 7, 8], ["s_nop 0", 0, 9, "", -1, 8],
        ["s_nop 0", 0, 9, {}, 7, 8], ["s_nop 0", 0, 4, "", 7, 276, 0, 0, 0, 0],
    ]  # fmt: skip
    trace = opened(tmp_path, files)
    assert trace.code.height == 5
    assert trace.instructions["row"].max() == 3
    assert kinds(trace) == {"malformed_rows": 6, "duplicate_rows": 1}


@pytest.mark.parametrize("content", [b"", b"7", b'{"code":3}', b'{"code":[[]]}', b"null", b"{]"])
def test_a_broken_code_file(content: bytes, tmp_path: Path) -> None:
    trace = opened(tmp_path, directory() | {"code.json": content})
    assert trace.code.is_empty()
    assert trace.instructions["row"].to_list() == [-1] * 8
    assert trace.waits.is_empty()
    assert kinds(trace)["unknown_rows"] == 8


def test_a_cut_occupancy_file_keeps_what_stands_before(tmp_path: Path) -> None:
    files = directory()
    text = json.dumps(files["occupancy.json"])
    trace = opened(tmp_path, files | {"occupancy.json": text[: text.index('"1": [') + 20].encode()})
    assert trace.occupancy["se"].unique().to_list() == [0]
    assert trace.waves["kernel"].to_list() == [0, None]
    assert kinds(trace) == {"unreadable_json": 1}


def test_strange_texts_reach_no_terminal(tmp_path: Path) -> None:
    files = directory()
    files["code.json"]["code"][1][0] = "s_nop \x1b[31m\ud800"
    files["code.json"]["code"][1][3] = "/src/\x07evil\u202e.py:4"
    files["occupancy.json"]["dispatches"]["3"] = "kernel\x1b]0;title\x07"
    trace = opened(tmp_path, files)
    shown = "".join([trace.code["text"][0], trace.code["file"][0], trace.kernels["name"][0]])
    assert shown.isprintable()


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/hostname", "link.txt", "sub/secret.txt", "huge.txt", "", ".", ".."]
)
def test_sources_come_from_the_directory_only(name: str, tmp_path: Path) -> None:
    files = directory() | {"snapshots.json": {"/": {"src": {"demo.py": name, "util.py": "source_1_util.py"}}}}
    folder = written(tmp_path / "here", files | {"source_1_util.py": b"def f():\n    pass\n"})
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "sub").mkdir()
    (folder / "sub" / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    with (folder / "huge.txt").open("wb") as huge:
        huge.truncate(1 << 30)
    trace = read_ui_output(Directory(folder))
    texts = dict(trace.sources.iter_rows())
    assert texts == {"/src/demo.py": None, "/src/util.py": "def f():\n    pass\n"}


def test_deep_and_odd_snapshots(tmp_path: Path) -> None:
    tree: Any = "source_0_a.py"
    for _ in range(300):
        tree = {"..": tree}
    trace = opened(tmp_path, directory() | {"snapshots.json": {"/": tree, "x": 3, "y": ["a"]}})
    assert trace.sources["text"].null_count() == trace.sources.height


def test_placeholders(tmp_path: Path) -> None:
    empty = {
        "filenames.json": directory()["filenames.json"] | {"wave_filenames": None},
        "code.json": {"code": None, "header": "", "version": "3.0.0"},
        "occupancy.json": {"dispatches": {"0": "0 / 0x0"}, "version": "3.0.0"},
    }
    trace = opened(tmp_path, empty)
    assert kinds(trace) == {"placeholder": 1}
    assert trace.waves.is_empty()


def test_a_kernel_that_missed_the_traced_cu(tmp_path: Path) -> None:
    files = directory()
    del files[WAVE], files[OTHER_WAVE]
    files["filenames.json"]["wave_filenames"] = None
    assert kinds(opened(tmp_path, files)) == {"no_waves": 1}


def test_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(NotATraceError):
        read_ui_output(Directory(tmp_path))
    with pytest.raises(UsageError):
        read_ui_output(Directory(tmp_path / "nowhere"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand in a directory."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, child in inside for place in places(child, (*path, key)))]


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_any_value_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    files: Any = directory() | {
        "snapshots.json": {"/": {"src": {"demo.py": "source_0_demo.py"}}},
        "source_0_demo.py": "text",
        "se0_perfcounter.json": {"data": [[1040, 3, 0, 16, 0, 1, 0]]},
        "shaderdata_0_0.json": {"records": [[1050, 6, 1, 2, 5, 0]], "records_schema": ["time"]},
        "other_simd_se0_0.json": {"wgp": 3, "instructions": [[1010, 4, 3]], "instructions_schema": None},
    }
    for place in data.draw(st.lists(st.sampled_from([p for p in places(files) if p]), min_size=1, max_size=3)):
        node = files
        try:
            for key in place[:-1]:
                node = node[key]
            node[place[-1]] = data.draw(VALUES)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    check(tmp_path_factory, {name: json.dumps(content).encode() for name, content in files.items()})


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_any_bytes_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    files = {name: json.dumps(content).encode() for name, content in directory().items()}
    name = data.draw(st.sampled_from(sorted(files)))
    at = data.draw(st.integers(0, len(files[name])))
    files[name] = (
        files[name][:at] + data.draw(st.binary(max_size=6)) + files[name][at + data.draw(st.integers(0, 40)) :]
    )
    check(tmp_path_factory, files)


def check(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> None:
    """Every table can be made, and totals are never more than what the files hold."""
    try:
        trace = opened(tmp_path_factory.mktemp("bad"), files)
    except WavewrightError:
        return
    for table in ("code", "waits", "sources", "losses"):
        trace.table(table)
    assert trace.waves["instruction_count"].sum() == trace.instructions.height
    assert row_totals(trace)["hit_count"].sum() <= trace.instructions.height
    assert trace.instructions["row"].max() is None or trace.instructions["row"].max() < trace.code.height
