"""A decoded directory without its code.json: every verb says that the code is missing, and nothing that is not so."""

from __future__ import annotations

import re

import pytest

from tests.cli.in_process import call
from tests.kit.made_decoded import NAME, decoded_files, write_files

WRONG = (
    "loops differ",
    "-g",
    "no instruction was executed",
    "no wait was executed",
    "no barrier was executed",
    "left early",
    "a loop",
)


@pytest.fixture(scope="module")
def without_code(tmp_path_factory):
    files = {name: content for name, content in decoded_files().items() if name != "code.json"}
    return write_files(tmp_path_factory.mktemp("decoded") / NAME, files)


@pytest.mark.some_cases(4)
@pytest.mark.parametrize(
    "verb", ["hotspots", "source", "loops", "waits", "waves", "barriers", "coverage", "diagnose", "info"]
)
def test_the_reason_is_the_true_one(without_code, verb):
    done = call(verb, without_code)
    assert done.status == 0
    told, _, losses = done.stdout.partition("loss: ")
    assert "code.json" in losses
    without_paths = re.sub(r"/\S+", "", told)  # a worker's folder is called popen-gw0
    assert [words for words in WRONG if words in without_paths.replace("wavewright", "")] == []
    if verb in ("hotspots", "source", "loops", "waits", "barriers"):
        assert "instructions were executed, but the code of none of them is known" in " ".join(told.split())
    if verb == "coverage":
        assert "copy the whole directory again" in " ".join(told.split())
