"""The losses of a trace are the same list, whatever was read before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from synth import Scenario, compiled, synthesize, tour, write_capture
from wavewright.analysis.trace.selection import Selection, select
from wavewright.codeobj.elf import parse_elf
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.capture import CodeObjectFile
from wavewright.readers.opening import open as open_trace
from wavewright.readers.trace.att import decode
from wavewright.readers.trace.code import load_code

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.trace import ThreadTrace

TARGETS = {"gfx9": "gfx942", "gfx10": "gfx1030", "gfx11": "gfx1100", "gfx12": "gfx1201", "gfx1250": "gfx1250"}


def read_everything(trace: ThreadTrace) -> ThreadTrace:
    """Read every table in the order of the schema, which has the losses at its end."""
    for name in THREAD_TRACE:
        trace.table(name)
    return trace


def broken_lines(folder: Path) -> Path:
    """Write a capture whose code object has line programs of an unknown version."""
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2)), folder)
    (path,) = folder.glob("*.out")
    elf = bytearray(path.read_bytes())
    section = parse_elf(bytes(elf)).section_named(".debug_line")
    assert section is not None
    elf[section.offset + 4 : section.offset + 6] = b"\xff\xff"
    path.write_bytes(elf)
    return folder


@pytest.mark.parametrize("family", TARGETS)
def test_losses_do_not_depend_on_other_tables(family: str, tmp_path: Path) -> None:
    scenario = Scenario(family=family, kernels=(tour(TARGETS[family], "copy"),), loss=True)
    write_capture(synthesize(scenario), tmp_path)
    before = open_trace(tmp_path).losses
    assert before.height
    assert before.equals(read_everything(open_trace(tmp_path)).losses)


def test_broken_debug_lines_are_lost_before_the_code_is_read(tmp_path: Path) -> None:
    folder = broken_lines(tmp_path)
    trace = decode(folder)
    before = trace.losses
    assert "debug_lines" in before["kind"].to_list()
    assert before.equals(read_everything(trace).losses)
    assert before.equals(read_everything(decode(folder)).losses)


def test_a_second_table_loses_no_lines_twice(tmp_path: Path) -> None:
    (path,) = broken_lines(tmp_path).glob("*.out")
    code = load_code([CodeObjectFile(path, 1, 0)], [])
    code.table()
    first = list(code.line_losses)
    code.table()
    assert [loss.kind for loss in first] == ["debug_lines"]
    assert code.line_losses == first


def test_sources_that_may_not_be_read_are_lost_before_they_are_read(tmp_path: Path) -> None:
    folder, sources = tmp_path / "capture", tmp_path / "sources"
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), folder)
    file = decode(folder).sources["file"][0]
    sources.mkdir()
    (tmp_path / "outside.hip").write_text("")
    (sources / file.rsplit("/", 1)[-1]).symlink_to(tmp_path / "outside.hip")
    trace = decode(folder, source_root=sources)
    before = trace.losses
    assert "not_followed" in before["kind"].to_list()
    assert before.equals(read_everything(trace).losses)


def test_parts_and_selections_have_the_losses_of_their_trace(tmp_path: Path) -> None:
    folder = broken_lines(tmp_path)
    expected = decode(folder).losses
    parts = decode(folder, rows_up_to=0)
    assert [part.losses.equals(expected) for part in parts.each_part()] == [True, True]
    assert select(decode(folder), Selection(shader_engines=(0,))).losses.equals(expected)
