"""A machine's files, variables and short commands: here, and below a folder that stands for a machine."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from synth.rooted_machine import RootedMachine
from wavewright.capture.machines import guard
from wavewright.capture.machines.machine import READ_BYTES_MAX, Machine, group_names


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/group").write_text("root:x:0:\n", encoding="utf-8")
    return tmp_path


def test_reads_files_below_its_root_only(root: Path) -> None:
    (root / "etc/name").write_text(" a\n", encoding="utf-8")
    (root / "up").symlink_to("../../../../etc/name")
    (root / "absolute").symlink_to("/etc/name")
    (root / "folder").symlink_to("/etc")
    machine = RootedMachine(str(root))
    texts = [machine.text(path) for path in ("/etc/name", "/up", "/absolute", "/folder/name", "/../../etc/name")]
    assert texts == ["a"] * 5
    assert machine.text("/etc/passwd") is None
    assert machine.real_path("/folder/../absolute") == "/etc/name"
    assert machine.names("/folder") == ("group", "name")


def test_a_loop_of_links_is_nothing(root: Path) -> None:
    (root / "a").symlink_to("/b")
    (root / "b").symlink_to("/a/b")
    machine = RootedMachine(str(root))
    assert machine.text("/a") is None
    assert machine.facts("/a/x") is None
    assert machine.names("/a") == ()
    assert machine.real_path("/a") == "/a"
    assert machine.refusal("/a") == "ELOOP"
    assert machine.program("/a") is None
    assert machine.free_bytes("/a") is None


def test_reads_neither_devices_nor_pipes_nor_more_than_the_limit(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with (root / "large").open("wb") as file:
        file.truncate(READ_BYTES_MAX + 10)
    machine = RootedMachine(str(root))
    assert machine.read("/pipe") is None
    assert len(machine.read("/large") or b"") == READ_BYTES_MAX
    assert Machine().read("/dev/zero") is None
    assert machine.read("/etc") is None
    assert machine.read("/with\0nul") is None
    assert machine.refusal("/with\0nul") == "EINVAL"


def test_facts_and_refusals(root: Path) -> None:
    machine = RootedMachine(str(root))
    facts = machine.facts("/etc/group")
    assert facts and (facts.kind, facts.size_bytes) == ("file", 10)
    folder = machine.facts("/etc")
    assert folder and folder.kind == "folder"
    device = Machine().facts("/dev/null")
    assert device and device.kind == "device"
    assert machine.refusal("/etc/group") == ""
    assert machine.refusal("/etc") == "EISDIR"
    assert machine.refusal("/nothing") == "ENOENT"
    assert machine.facts("/nothing") is None


def test_free_bytes_of_a_folder_that_is_not_there_yet(root: Path) -> None:
    machine = RootedMachine(str(root))
    free = machine.free_bytes("/etc/a/b/c")
    assert free is not None and free > 0


def test_programs_are_those_below_the_root(root: Path) -> None:
    folder = root / "opt/bin"
    folder.mkdir(parents=True)
    (folder / "tool").write_text('#!/bin/sh\necho "$1 $SEEN"\nexit 3\n', encoding="utf-8")
    (folder / "tool").chmod(0o755)
    (folder / "text").write_text("no program", encoding="utf-8")
    machine = RootedMachine(str(root), {"PATH": "relative:/nowhere:/opt/bin/", "SEEN": "1"})
    assert machine.program("tool") == "/opt/bin/tool"
    assert machine.program("/opt/../opt/bin/tool") == "/opt/bin/tool"
    assert machine.program("text") is None
    assert machine.program("sh") is None
    completed = machine.run(["tool", "a"], seconds=20)
    assert (completed.status, completed.stdout, completed.problem) == (3, "a 1\n", "")
    assert machine.run(["sh"], seconds=1).problem == "there is no program 'sh'"


def test_a_command_is_killed_with_its_children_and_its_output_is_bounded() -> None:
    mark = {guard.MARK: uuid.uuid4().hex}
    machine = Machine({**os.environ, **mark})
    late = machine.run(["sh", "-c", "sleep 3000 & sleep 3000"], seconds=0.3)
    assert (late.status, late.problem) == (None, "no end after 0.3 s")
    quick = machine.run(["sh", "-c", "sleep 3000 & echo done; exit 4"], seconds=1000)
    assert (quick.status, quick.stdout) == (4, "done\n")
    loud = machine.run(["head", "-c", str(READ_BYTES_MAX + 5), "/dev/zero"], seconds=1000)
    assert (loud.status, len(loud.stdout)) == (0, READ_BYTES_MAX)
    assert not guard.wait_for_none(None, mark[guard.MARK], 600)


def test_a_command_that_cannot_start_or_dies_by_a_signal(root: Path) -> None:
    (root / "broken").write_bytes(b"\0no format")
    (root / "broken").chmod(0o755)
    completed = RootedMachine(str(root)).run(["/broken"], seconds=5)
    assert completed.status is None and "cannot be started" in completed.problem
    assert Machine().run(["sh", "-c", "kill -9 $$"], seconds=5).status == -9
    assert Machine().run(["printf", r"\377"], seconds=5).stdout == "\N{REPLACEMENT CHARACTER}"


def test_who_runs_here(root: Path) -> None:
    gid = os.getegid()
    (root / "etc/group").write_text(f"ours:x:{gid}:\nother:x:{gid + 5}:\n", encoding="utf-8")
    identity = RootedMachine(str(root)).identity
    assert identity.uid == os.geteuid() and gid in identity.gids
    assert identity.group_names[gid] == "ours"
    here = Machine()
    assert here.identity.system == os.uname().sysname
    assert here.variables["PATH"] == os.environ["PATH"]
    assert RootedMachine(str(root)).variables == {}


def test_names_of_groups_in_a_broken_file() -> None:
    assert group_names("a:x:1:\nb:x:1:\n:::\nc:x:-1:\nd:x:99999999999:\ne:x:\N{SUPERSCRIPT TWO}:\n") == {1: "a"}
