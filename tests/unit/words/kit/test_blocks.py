"""Blocks of a report: what is a picture says so itself, whatever characters recorded names have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.text import Text

from tests.cli.in_process import call
from wavewright.model.blocks import Preformatted, Sentence
from wavewright.words.kit.blocks import blocks_of
from wavewright.words.kit.charts import ChartLine

NAMES = ("epoch 1 │ step 3", "█▓▒░", "├─ loss ─┤", "▁▂▃▄▅▆▇", "╭ box ╰", "note: nothing", "**bold** | a")


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_that_quotes_a_name_stays_a_sentence(name: str) -> None:
    (block,) = blocks_of([Text(f"the heaviest is {name} with 3 ms", "bold")])
    assert block == Sentence(f"the heaviest is {name} with 3 ms", "headline")


def test_lines_of_a_chart_are_one_picture() -> None:
    chart = ChartLine.assemble("GPU 0 │", ("▁▂", "red"))
    assert blocks_of([chart, ChartLine("       +0 ns   +3 ms")]) == (
        Preformatted("GPU 0 │▁▂\n       +0 ns   +3 ms", is_chart=True),
    )


@pytest.mark.parametrize("name", NAMES)
def test_names_of_markers_reach_briefs(tmp_path: Path, name: str) -> None:
    events = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 7, "tid": 7, "ts": 0, "dur": 9000},
        {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 5,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 1, "ts": 30, "dur": 800,
         "args": {"correlation": 1, "device": 0, "stream": 1}},
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    for verb in ("regions", "summary"):
        done = call(verb, path, "--brief")
        assert done.status == 0, done.stderr
        assert name.replace("|", "\\|") in done.stdout or name in done.stdout, verb
