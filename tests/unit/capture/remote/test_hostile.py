"""The other machine may lie: nothing outside the folder is written, and every lie is a loss or one clear error."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.capture.made_connections import Network
from wavewright.capture.machines.runner import Limits
from wavewright.capture.remote import Connected, bringing
from wavewright.errors import UnreachableError, WavewrightError

HOSTILE = Path(__file__).parent / "hostile_agent.py"


def _connect(folder: Path, scenario: dict[str, Any]) -> Connected:
    """A connection to an agent of the test."""
    network = Network(folder / "network")
    (folder / "scenario").write_text(json.dumps(scenario))
    script = f"""#!/bin/sh
for word; do :; done
mark=$(echo "$word" | grep -o -E '[0-9a-f]{{32}}' | head -1)
exec {sys.executable} {HOSTILE} $mark "$(cat {folder}/scenario)"
"""
    network.program(folder / "network/programs/ssh", script)
    return network.connect()


def _brought(folder: Path, files: list[Any], **scenario: Any) -> tuple[dict[str, str], tuple[str, ...]]:
    """Names and contents of what is here after a hostile list of files, and the losses."""
    work = folder / "work"
    answers = {"files": {"files": files, "is_all": True}, **scenario.pop("answers", {})}
    with _connect(folder, {"answers": answers, **scenario}) as (_, runner):
        runner.folder(work / "raw")
        runner.bring(work / "raw")
        losses = runner.losses(work / "raw")
    paths = [path for path in (work / "raw").rglob("*") if path.is_file()]
    assert not any(path.is_symlink() for path in work.rglob("*"))
    others = {path.name for path in work.iterdir()} - {"raw", "raw.remote.json", ".raw.partial"}
    assert not others
    return {str(path.relative_to(work / "raw")): path.read_text() for path in paths}, losses


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/evil",
        "a/../../evil",
        "..",
        ".",
        "",
        "a//b",
        "a/./b",
        "a\0b",
        "x" * 300,
        "/".join("d" * 40),
        "\ud800",
        "a/" * 10 + "..",
    ],
)
def test_names_that_lead_out_are_losses(tmp_path: Path, name: str) -> None:
    here, losses = _brought(
        tmp_path,
        [[name, "file", 4, 0], [name, "folder", 0, 0], ["good", "file", 4, 0]],
        contents={name: "evil", "good": "good"},
    )
    assert here == {"good": "good"}
    assert len(losses) == 2
    assert all("a name that" in loss for loss in losses)
    assert not (tmp_path / "work/evil").exists()


def test_links_devices_and_nonsense_are_losses(tmp_path: Path) -> None:
    entries = [
        ["link", "link", 4, 0],
        ["device", "device", 0, 0],
        ["socket", "other", 0, 0],
        ["negative", "file", -1, 0],
        ["text", "file", "4", 0],
        5,
        None,
        [],
        {"name": "x"},
    ]
    here, losses = _brought(tmp_path, [*entries, ["good", "file", 1, 0]], contents={"good": "x", "link": "evil"})
    assert here == {"good": "x"}
    assert len(losses) == len(entries)


def test_a_file_and_a_folder_of_one_name(tmp_path: Path) -> None:
    files = [["a", "file", 1, 0], ["a", "folder", 0, 0], ["a/b", "file", 1, 0]]
    here, losses = _brought(tmp_path, files, contents={"a": "x", "a/b": "y"})
    assert here == {"a/b": "y"}
    assert losses == ("a: a file and a folder of one name; the file stays there",)


def test_names_with_control_characters_stay_there(tmp_path: Path) -> None:
    names = ("con\x1b[2Jtrol", "a\u202eb", "ok")
    here, losses = _brought(tmp_path, [[name, "file", 1, 0] for name in names], contents=dict.fromkeys(names, "x"))
    assert here == {"ok": "x"}
    assert len(losses) == 2
    assert all("control characters" in loss for loss in losses)


def test_links_that_are_here_already_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    raw = tmp_path / "work/raw"
    raw.mkdir(parents=True)
    (raw / "folder").symlink_to(outside)
    (raw / "file").symlink_to(outside / "target")
    (outside / "target").write_text("mine")
    files = [["folder/evil", "file", 4, 0], ["file", "file", 4, 0]]
    with _connect(
        tmp_path,
        {"answers": {"files": {"files": files, "is_all": True}}, "contents": {"folder/evil": "evil", "file": "evil"}},
    ) as (_, runner):
        runner.folder(raw)
        runner.bring(raw)
        assert runner.losses(raw) == ("folder/evil: here its folder is a file or leads out",)
    assert [path.name for path in outside.iterdir()] == ["target"]
    assert (outside / "target").read_text() == "mine"
    assert (raw / "file").read_text() == "evil"
    assert not (raw / "file").is_symlink()


def test_a_wrong_hash_is_a_loss(tmp_path: Path) -> None:
    answers = {"hash": {"sha256": "0" * 64, "bytes": 4}}
    here, losses = _brought(tmp_path, [["a", "file", 4, 0]], contents={"a": "evil"}, answers=answers)
    assert here == {}
    assert losses == ("a: it changed on the way, or its hash is wrong; it stays there",)


def test_files_that_shrink_or_grow_are_losses(tmp_path: Path) -> None:
    files = [["short", "file", 9, 0], ["long", "file", 2, 0]]
    here, losses = _brought(tmp_path, files, contents={"short": "1234", "long": "1234"})
    assert here == {}
    assert [loss.split(":")[0] for loss in losses] == ["long", "short"]


def test_more_than_was_asked_for_is_a_loss(tmp_path: Path) -> None:
    """A file without an end sends as much as it likes."""
    here, losses = _brought(
        tmp_path, [["a", "file", 4, 0]], contents={"a": "1234"}, answers={"chunk": True}, bytes={"chunk": "x" * 100_000}
    )
    assert here == {}
    assert len(losses) == 1


def test_endless_files_meet_the_budget(tmp_path: Path) -> None:
    files = [["endless", "file", 1 << 60, 0], ["good", "file", 1, 0]]
    here, losses = _brought(tmp_path, files, contents={"good": "x"})
    assert here == {"good": "x"}
    assert re.fullmatch(r"endless: its [\d.,]+ \w+ do not fit here; it stays there", losses[0])


def test_too_many_files_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing, "FILES_MAX", 3)
    files = [[f"f{index}", "file", 1, 0] for index in range(6)]
    here, losses = _brought(tmp_path, files, contents={f"f{index}": "x" for index in range(6)})
    assert len(here) == 3
    assert losses == (": more than 3 files: the rest stays there",)


@pytest.mark.parametrize("answer", [None, 5, [], {}, {"files": 5}, {"files": None, "is_all": True}, "x"])
def test_a_list_that_makes_no_sense_is_one_error(tmp_path: Path, answer: Any) -> None:
    with _connect(tmp_path, {"answers": {"files": answer}}) as (_, runner):
        runner.folder(tmp_path / "raw")
        with pytest.raises(WavewrightError, match="makes no sense"):
            runner.bring(tmp_path / "raw")


@pytest.mark.parametrize("answer", [None, 5, [], {}, "x", {"identity": {}, "variables": 3}, {"identity": None}])
def test_answers_about_the_machine_that_make_no_sense(tmp_path: Path, answer: Any) -> None:
    names = ("hello", "facts", "names", "real_path", "refusal", "run", "prefetch")
    with _connect(tmp_path, {"answers": dict.fromkeys(names, answer)}) as (machine, _):
        questions = (
            lambda: machine.identity,
            lambda: machine.variables,
            lambda: machine.facts("/a"),
            lambda: machine.names("/a"),
            lambda: machine.real_path("/a"),
            lambda: machine.refusal("/a"),
            lambda: machine.run(["a"], seconds=1),
            lambda: machine.prefetch(["/a"]),
        )
        for question in questions:
            try:
                question()
            except UnreachableError as error:
                assert "makes no sense" in error.what


@pytest.mark.parametrize(
    "raw",
    ["ffffffffffffffff", "0000000400000000" + b"[1]x".hex(), "0000000100000000" + b"5".hex(), "00" * 8],
)
def test_bytes_that_are_no_answer_end_the_connection(tmp_path: Path, raw: str) -> None:
    with (
        _connect(tmp_path, {"raw": {"facts": raw}}) as (machine, _),
        pytest.raises(UnreachableError, match="what comes back is not from our agent"),
    ):
        machine.facts("/a")


def test_output_beyond_the_limit_is_not_written(tmp_path: Path) -> None:
    answers = {"output": {"ending": None, "bytes": 50_000}}
    with _connect(tmp_path, {"answers": answers, "bytes": {"output": "x" * 50_000}}) as (_, runner):
        runner.folder(tmp_path / "raw")
        ending = runner.run(
            ["a"],
            variables={},
            cwd="",
            stdout=tmp_path / "stdout.txt",
            stderr=tmp_path / "stderr.txt",
            limits=Limits(seconds=5, output_bytes=120_000),
        )
    assert ending.stopped == "interrupted"
    assert (tmp_path / "stdout.txt").stat().st_size <= 120_200
