"""A few changed inputs of each target of tools/fuzz_program.py: rows of databases, Chrome traces, an agent's lines."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import call
from tests.mcp.mutated_talk import talk
from tools.fuzz_program import MAKERS, called

CASES = 4


@pytest.mark.parametrize("target", ["rows", "chrome"])
def test_changed_inputs_are_answered_or_refused_in_words(shared: Path, tmp_path: Path, target: str) -> None:
    failures = []
    for number in range(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = MAKERS[target](random.Random(f"quick {target} {number}"), folder)
        if outcome := called(arguments):
            failures.append((number, arguments, outcome))
    assert failures == []


def test_changed_lines_of_an_agent_leave_the_server_alive(shared: Path, tmp_path: Path) -> None:
    failures = []
    for number in range(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        if outcome := talk(random.Random(f"quick {number}"), shared / "data", folder):
            failures.append((number, outcome))
    assert failures == []


def test_a_kernel_without_dispatches_has_no_calls(shared: Path, tmp_path: Path) -> None:
    name = "rocprof_compute_3kernels.db"
    copy = Path(shutil.copyfile(shared / "data/rocprofcompute-analysisdb" / name, tmp_path / name))
    with closing(sqlite3.connect(copy)) as database, database:
        (rest,) = database.execute("SELECT count(DISTINCT kernel_uuid) FROM compute_dispatch").fetchone()
        database.execute(
            "DELETE FROM compute_dispatch WHERE kernel_uuid = (SELECT min(kernel_uuid) FROM compute_dispatch)"
        )
    assert rest > 1
    done = call("counters", copy)
    assert done.status == 0, done.stderr


def test_gaps_of_a_run_without_processes_have_no_place(shared: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(shared / "data/att-mi300x-bmm/c10/raw/163_results.db", tmp_path / "results.db"))
    with closing(sqlite3.connect(copy)) as database, database:
        pattern = "rocpd_info_process_%"
        (table,) = database.execute("SELECT name FROM sqlite_master WHERE name LIKE ?", (pattern,)).fetchone()
        database.execute(f'DROP TABLE "{table}"')
    done = call("gaps", copy)
    assert done.status == 0, done.stderr
    assert "the longest gap, " in done.stdout
    assert "--time" not in done.stdout


def test_names_of_sections_command_no_terminal(shared: Path, tmp_path: Path) -> None:
    data = (shared / "data/codeobj/gfx942/unified_memory.co").read_bytes()
    sections = int.from_bytes(data[0x28:0x30], "little")
    header = next(at for at in range(sections, len(data), 64) if data[at + 4] == 1 and data[at + 8] & 4)  # code
    copy = tmp_path / "damaged.co"
    copy.write_bytes(
        data[:header].replace(b".text\0", b".te\x04t\0")
        + data[header : header + 0x20]
        + b"\xff\xff\xff\0"
        + data[header + 0x24 :]
    )
    done = call("info", copy)
    assert done.status == 0, done.stderr
    assert "section .te\\x04t claims" in done.stdout
