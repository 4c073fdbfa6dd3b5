"""Sampling of the GPU during a capture, with a program that stands for amd-smi."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.capture.made_captures import Bench
from wavewright.capture.judgement import Verdict
from wavewright.capture.kinds import Discovery
from wavewright.errors import MissingToolError
from wavewright.facts.gpus.samples import FILE

#: Answers as amd-smi does, for the GPU that it is asked about.
STAND_IN = """#!{python}
import json, sys
assert sys.argv[1] == "metric" and "--json" in sys.argv, sys.argv
print(json.dumps({{"gpu_data": [{{"gpu": sys.argv[sys.argv.index("--gpu") + 1], "power": {{"socket_power": 300}}}}]}}))
"""


def with_amd_smi(bench: Bench, text: str = STAND_IN) -> None:
    folder = bench.folder / "smi"
    folder.mkdir()
    path = folder / "amd-smi"
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    bench.variables["PATH"] = f"{folder}:{bench.variables['PATH']}"


def lines(bench: Bench) -> list[dict[str, object]]:
    path: Path = bench.folder / "out/attempts/1/raw" / FILE
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_gpu_of_the_capture_is_sampled_by_its_address(bench: Bench) -> None:
    with_amd_smi(bench)
    result = bench.take(replace(bench.job(Discovery), is_monitored=True))
    assert result.verdict is Verdict.GOOD
    assert lines(bench)
    for sample in lines(bench):
        assert sample["pci"] == "0000:01:00.0"
        assert sample["answer"]["gpu_data"][0]["gpu"] == "0000:01:00.0"  # type: ignore[index]
        assert sample["begin"]["boottime"] <= sample["end"]["boottime"]  # type: ignore[index]


def test_an_amd_smi_that_fails_spoils_nothing(bench: Bench) -> None:
    with_amd_smi(bench, "#!/bin/sh\necho no; exit 3\n")
    assert bench.take(replace(bench.job(Discovery), is_monitored=True)).verdict is Verdict.GOOD
    assert {line["answer"] for line in lines(bench)} == {None}  # type: ignore[comparison-overlap]


def test_without_being_asked_nothing_is_sampled(bench: Bench) -> None:
    with_amd_smi(bench)
    bench.take(bench.job(Discovery))
    assert not (bench.folder / "out/attempts/1/raw" / FILE).exists()


def test_what_cannot_be_sampled_is_said_before(bench: Bench) -> None:
    with pytest.raises(MissingToolError, match="amd-smi is not installed"):
        bench.take(replace(bench.job(Discovery), is_monitored=True))
    with_amd_smi(bench)
    with pytest.raises(MissingToolError, match="no GPU of a known PCI address"):
        bench.take(replace(bench.job(Discovery), is_monitored=True, gpu="any"), "other")
