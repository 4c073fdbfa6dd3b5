"""Files of ROCm WaveScope beside code.json: written, read again, and refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit.made_traces import CODE, made, one_wave
from tests.kit.ui_directories import frame
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.model.findings import Finding
from wavewright.model.trace import ThreadTrace
from wavewright.readers.opening import open_trace

CHAIN = "/src/inner.h:7 -> /src/middle.h:21 -> /src/kernel.hip:40"


class Place:
    """Evidence of a finding."""

    row, file, line = 1, "/src/kernel.hip", 41


FINDINGS = [
    Finding(
        name="wait",
        kind="stall",
        verdict="Waves wait",
        reason="for scalar loads",
        confidence="high",
        evidence=(Place(),),
        gain_share_max=0.3,
    ),
    Finding(name="note", kind="note", verdict="Nothing else", reason="is known"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    chains = [CHAIN, "/src/kernel.hip:41", "/src/kernel.hip:42", None, None, None]
    trace = made([one_wave()], code=frame("code", CODE | {"inline_chain": chains}))
    return write_ui_output(trace, tmp_path, findings=FINDINGS)


def change(folder: Path, name: str, **keys: object) -> ThreadTrace:
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))
    return open_trace(folder)


def without_chains(folder: Path) -> None:
    """Leave the innermost place of every row, as rocprofv3 writes code.json."""
    file = folder / "code.json"
    code = json.loads(file.read_text())
    for row in code["code"]:
        row[3] = row[3].split(" -> ")[0]
    file.write_text(json.dumps(code))


def test_inlined_calls_come_back(folder: Path) -> None:
    frames = json.loads((folder / "inline_frames.json").read_text())
    assert (frames["version"], frames["files"]) == (2, ["/src/kernel.hip", "/src/middle.h"])
    ((_, stack),) = frames["stacks"].items()
    assert [frame[1:] for frame in stack] == [[-1, 0, 0], [0, 40, 0], [1, 21, 0]], "the outermost first"
    without_chains(folder)
    code = open_trace(folder).code
    assert code["inline_chain"].to_list()[0] == CHAIN
    assert code.row(0, named=True)["line"] == 7
    (folder / "inline_frames.json").unlink()
    assert open_trace(folder).code["inline_chain"].to_list()[0] == "/src/inner.h:7"


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"version": 3}, "version 3"),
        ({"stacks": {f"9:{number}": [[0, -1, 0, 0]] for number in range(10)}}, "another build"),
        ({"stacks": [1]}, "cannot be read"),
        ({"stacks": {"1:0": [["x", 0, 0, 0]]}}, "cannot be read"),
        ({"files": 7}, "cannot be read"),
    ],
)
def test_what_does_not_fit_is_not_used(folder: Path, keys: dict[str, object], reason: str) -> None:
    without_chains(folder)
    trace = change(folder, "inline_frames.json", **keys)
    (loss,) = trace.losses.filter(trace.losses["kind"] == "inline_frames")["message"].to_list()
    assert reason in loss
    assert trace.code["inline_chain"].to_list()[0] == "/src/inner.h:7"


def test_numbers_of_files_that_are_not_there_are_left_out(folder: Path) -> None:
    without_chains(folder)
    (key,) = json.loads((folder / "inline_frames.json").read_text())["stacks"]
    trace = change(folder, "inline_frames.json", stacks={key: [[0, -1, 0, 0], [0, 99, 3, 0], [0, 1, -5, 0]]})
    assert trace.code["inline_chain"].to_list()[0] == "/src/inner.h:7 -> /src/middle.h:?"


def test_findings_are_annotations(folder: Path) -> None:
    first, second = json.loads((folder / "annotations.json").read_text())["annotations"]
    rows = json.loads((folder / "code.json").read_text())["code"]
    assert (first["title"], first["severity"], first["metric"], first["confidence"]) == (
        "Waves wait",
        "critical",
        0.3,
        0.9,
    )
    assert [rows[place][0] for place in first["anchor"]["instIdxs"]] == ["s_waitcnt lgkmcnt(0)"]
    assert first["anchor"]["source"] == {"file": "/src/kernel.hip", "line": 41}
    assert (second["severity"], second["anchor"], "metric" in second) == ("info", None, False)
    assert first["id"] != second["id"]


def annotated(folder: Path, *annotations: object) -> ThreadTrace:
    (folder / "annotations.json").write_text(json.dumps(list(annotations)))
    return open_trace(folder)


def test_annotations_are_read_back_the_most_severe_first(folder: Path) -> None:
    first, second = open_trace(folder).annotations.to_dicts()
    assert (first["title"], first["severity"], first["metric"], first["rows"]) == ("Waves wait", "critical", 0.3, "1")
    assert (first["file"], first["line"], first["start_cycles"]) == ("/src/kernel.hip", 41, None)
    assert (second["severity"], second["rows"], second["confidence"]) == ("info", None, None)


def test_annotations_of_strangers_are_bounded_text(folder: Path) -> None:
    where = {"wave": {"se": 1, "sm": 2, "slot": 3}, "time": [90, 40.4]}
    trace = annotated(
        folder,
        {"title": "late\x1b[31m", "severity": "loud", "confidence": 7, "anchor": {"wave": where["wave"]}},
        {"title": "x" * 10_000, "severity": "high", "anchor": {"instIdxs": [-1, 0, 99], **where}},
        {
            "title": "y",
            "severity": "high",
            "metric": 2,
            "anchor": {"source": {"file": "kernel.hip", "line": 3, "endLine": 9}},
        },
        {"note": "no title"},
        {"title": " "},
        {"title": "t", "anchor": {"instIdxs": "all"}},
        7,
    )
    metric, long, late = trace.annotations.to_dicts()
    assert (metric["title"], metric["file"], metric["line"], metric["end_line"]) == ("y", "kernel.hip", 3, 9)
    assert (len(long["title"]), long["se"], long["simd"], long["slot"]) == (4_000, 1, 2, 3)
    assert (long["start_cycles"], long["end_cycles"]) == (40, 90)
    assert (late["title"], late["severity"], late["confidence"], late["se"]) == ("late?[31m", "info", 1.0, None)
    (loss,) = trace.losses.filter(trace.losses["kind"] == "annotations").iter_rows(named=True)
    assert loss["count"] == 4


@pytest.mark.parametrize("content", [b"{", b'{"annotations": 3}', b"[" * 5000, b'"\xff"', b"7"])
def test_a_file_that_holds_no_annotations_is_a_loss(folder: Path, content: bytes) -> None:
    (folder / "annotations.json").write_bytes(content)
    trace = open_trace(folder)
    assert trace.annotations.height == 0
    assert trace.losses.filter(trace.losses["kind"] == "annotations").height == 1
