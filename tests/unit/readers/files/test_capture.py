from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.together import together
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.files.capture import CodeObjectFile, TraceFile, find_capture, parse_code_object


@together(
    "name, pid, agent, dispatch, se",
    [
        ("28_5600_shader_engine_0_2.att", 28, 5600, 2, 0),
        ("5600_shader_engine_31_7.att", None, 5600, 7, 31),
        ("28_5600_shader_engine_3.att", 28, 5600, None, 3),
        ("se12.att", None, None, None, 12),
        ("k1_se3.att", None, None, 1, 3),
        ("4.att", None, None, None, 4),
        ("something else.att", None, None, None, None),
        ("4711/att_5600_shader_engine_0_2.att", 4711, 5600, 2, 0),
        ("out/my_run_5600_shader_engine_0_2.att", None, 5600, 2, 0),
        ("4711/28_5600_shader_engine_0_2.att", 28, 5600, 2, 0),
        ("4711/se12.att", None, None, None, 12),
    ],
)
def test_names(name: str, pid: int | None, agent: int | None, dispatch: int | None, se: int | None) -> None:
    assert TraceFile.named(Path(name)) == TraceFile(Path(name), pid, agent, dispatch, se)


@pytest.mark.parametrize(
    ("spec", "load_address", "code_object"),
    [
        ("k_code_object_id_7.out", None, 7),
        ("k_code_object_id_7.out:9", None, 9),
        ("k_code_object_id_7.out@0x1000", 0x1000, 7),
        ("k_code_object_id_7.out@4096:0", 4096, 0),
        ("odd@name:3.out", None, 3),
        ("plain.elf", None, 0),
    ],
)
def test_code_object_specs(tmp_path: Path, spec: str, load_address: int | None, code_object: int) -> None:
    for name in ("k_code_object_id_7.out", "odd@name:3.out", "plain.elf"):
        (tmp_path / name).touch()
    parsed = parse_code_object(f"{tmp_path}/{spec}")
    assert (parsed.load_address, parsed.id) == (load_address, code_object)


@pytest.mark.parametrize("spec", ["missing.out", "missing.out@12:1", "", "plain.elf@0x10000000000000000"])
def test_bad_code_object_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.elf").touch()
    with pytest.raises(UsageError, match="FILE"):
        parse_code_object(spec)


def test_a_folder_with_two_processes_and_dispatches(tmp_path: Path) -> None:
    for pid, dispatch, se in [(1, 3, 0), (1, 3, 1), (1, 4, 0), (2, 3, 0)]:
        (tmp_path / f"{pid}_77_shader_engine_{se}_{dispatch}.att").write_bytes(bytes(8 * (dispatch + se)))
    for pid in (1, 2):
        (tmp_path / f"{pid}_gfx942_code_object_id_5.out").touch()
    capture = find_capture([tmp_path])
    assert [(w.pid, w.dispatch, len(w.files)) for w in capture.windows] == [(1, 3, 2), (1, 4, 1), (2, 3, 1)]
    assert [c.path.name for c in capture.code_of(capture.windows[2])] == ["2_gfx942_code_object_id_5.out"]
    assert [w.dispatch for w in capture.only(shader_engines=[1]).windows] == [3]
    with pytest.raises(UsageError, match=r"dispatch 3 \(SE 0, 1\)"):
        capture.only(shader_engines=[9])


def test_given_code_objects_replace_found_ones(tmp_path: Path) -> None:
    (tmp_path / "se0.att").touch()
    (tmp_path / "a_code_object_id_1.out").touch()
    other = tmp_path / "other" / "b.out"
    other.parent.mkdir()
    other.touch()
    capture = find_capture([tmp_path / "se0.att"], [f"{other}:1"])
    assert capture.code_objects == (CodeObjectFile(other, 1),)


def test_files_without_a_number_get_their_own_shader_engine(tmp_path: Path) -> None:
    names = ["first.att", "se1.att", "second.att"]
    for name in names:
        (tmp_path / name).touch()
    capture = find_capture([tmp_path / name for name in names])
    assert sorted(f.se for f in capture.windows[0].files if f.se is not None) == [0, 1, 2]


def test_nothing_to_find(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match=r"no \.att file"):
        find_capture([tmp_path])
    with pytest.raises(UsageError, match="no such file"):
        find_capture([tmp_path / "missing"])


def test_captures_of_processes_with_the_same_number(tmp_path: Path) -> None:
    """Each trace is decoded with the code of its own folder, and no two captures become one."""
    for capture in ("a", "b"):
        (tmp_path / capture).mkdir()
        for name in ("15_7_shader_engine_0_1.att", "15_7_shader_engine_1_1.att", "15_gfx942_code_object_id_2.out"):
            (tmp_path / capture / name).write_bytes(b"")
    found = find_capture([tmp_path], ())
    assert [len(window.files) for window in found.windows] == [2, 2]
    for window in found.windows:
        (folder,) = {file.path.parent for file in window.files}
        assert [code_object.path.parent for code_object in found.code_of(window)] == [folder]


def test_two_processes_below_folders_of_their_own(tmp_path: Path) -> None:
    """As `rocprofv3 --att -o %pid%/att` writes: the same prefix, numbers of code objects and dispatches in each."""
    for pid in (100, 200):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "att_4711_shader_engine_0_7.att").write_bytes(b"x")
        (folder / "att_gfx942_code_object_id_1.out").write_bytes(b"x")
    capture = find_capture([tmp_path])
    assert [(window.pid, window.dispatch) for window in capture.windows] == [(100, 7), (200, 7)]
    assert [[code.path.parent.name for code in capture.code_of(w)] for w in capture.windows] == [["100"], ["200"]]
