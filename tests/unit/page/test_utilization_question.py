"""The question about the use of pipes, and the place of a wave's instructions."""

from __future__ import annotations

import json

import polars as pl
import pytest

from wavescope.analysis.utilization import utilization
from wavescope.page.asking import ask
from wavescope.page.document import Document
from wavescope.page.trace.waves import waves
from wavescope.readers.opening import open as open_path
from wavescope.synth import Scenario, synthesize, write_capture


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    write_capture(synthesize(Scenario(shader_engines=2, workgroups=3, seed=3)), folder)
    return Document(0, "capture", str(folder), lambda: open_path(folder))


def test_shares_are_those_of_the_analysis(document):
    expected = utilization(document.trace)
    found = json.loads(ask(document, "utilization", {}).content)
    assert found["pipes"]["rows"] == expected.pipes.to_dicts()
    assert found["bubble_share"] == expected.bubble_share
    assert "bubble" in found["definition"]


def test_every_instruction_lies_in_its_wave(document):
    listed = waves(document).filter(pl.col("instruction_count") > 0)
    owners = document.trace.instructions["wave"]
    for number, first, count in listed.select("wave", "first_instruction", "instruction_count").iter_rows():
        assert set(owners.slice(int(first), count)) == {number}
