"""Who asks for JSON does not pay for text: no verb imports rich or a report for it, which takes a tenth of a second."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from synth import Workload, write_rocpd
from synth.counter_capture import write_counters
from synth.pc_samples import SampledRun, write_samples
from wavewright.cli import VERBS
from wavewright.questions.catalog import every_question

#: Makes the calls that it reads one after the other, and prints what each of them imported for text.
SCRIPT = """
import contextlib, io, json, sys
from wavewright.cli import _group

def of_text():
    return {name for name in sys.modules if name.split(".")[0] == "rich" or name.startswith("wavewright.words")}

found, known = [], of_text()
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        with contextlib.suppress(SystemExit):  # doctor says by its status what is missing here
            _group(arguments, standalone_mode=False)
    if "--json" in arguments:
        json.loads(printed.getvalue())
    found.append(sorted(of_text() - known))
    known = of_text()
print(json.dumps(found))
"""
SQL = "SELECT count(*) AS n FROM kernels"
#: Verbs without a question, and questions that samples answer; the other questions are taken from their declarations.
OF_RUNS = ("tables",)
OF_SAMPLES = ("diagnose", "hotspots", "info", "source", "stalls")
#: `open` and `mcp` serve until they are stopped; `plot` and `report` write words whatever they print.
WITH_WORDS = {"open", "mcp", "plot", "report"}


@pytest.fixture
def calls(capture: Path, tmp_path: Path) -> list[list[str]]:
    """Every verb that ends, on each kind of input that it takes."""
    run, counters, samples = tmp_path / "run.db", tmp_path / "counters", tmp_path / "samples"
    write_rocpd(run, Workload(dispatches=40))
    write_counters(counters)
    write_samples(SampledRun(), samples, form="json", with_code=True)
    asked = [[verb, str(path)] for verbs, path in ((OF_RUNS, run), (OF_SAMPLES, samples)) for verb in verbs]
    kinds = {"trace": str(capture), "run": str(run), "counters": str(counters)}
    asked += [shlex.split(each.command([kinds[each.kind]], {}, is_brief=False))[1:] for each in every_question()]
    asked += [["compare", str(path), str(path)] for path in (capture, run, counters)]
    asked += [["baseline", str(run), "-o", str(tmp_path / "run.wwbase")], ["gate", str(run), "--baseline", str(run)]]
    asked += [["loop", str(run), str(run)], ["store", "add", str(tmp_path / "store"), str(run)]]
    asked += [["stalls", str(capture), "--classic"], ["counters", str(counters), "--by", "dispatch"]]
    asked += [["info", str(next(capture.glob("*.out")))], ["info", str(tmp_path / "ui")], ["demo"]]
    asked += [["query", str(run), SQL], ["schema"], ["metrics", "--panel", "l2"]]
    (tmp_path / "input.yaml").write_text("jobs:\n  - pmc: [SQ_WAVES]\n")
    asked += [["capture", "input", "-i", str(tmp_path / "input.yaml"), "--rocm-version", "7.2", "--dry-run"]]
    asked += [["doctor"], ["disassemble", str(next(capture.glob("*.out")))]]
    written = {"decode": capture, "convert": run, "merge": run, "split": run, "window": run}
    outputs = {"decode": "ui", "convert": "run.json", "merge": "merged.db", "split": "parts", "window": "window.db"}
    more = {"convert": ["--format", "chrome"], "split": ["--by", "process"], "window": ["--time", "0%:50%"]}
    making = [
        [verb, str(path), "-o", str(tmp_path / outputs[verb]), *more.get(verb, ())] for verb, path in written.items()
    ]
    return [[*words, "--json"] for words in (*making, *asked)] + [["hotspots", str(capture), "--csv"]]


@pytest.mark.slow
def test_nothing_of_text_is_imported(calls: list[list[str]]) -> None:
    assert {words[0] for words in calls} == {*VERBS} - WITH_WORDS
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=json.dumps(calls), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [(" ".join(words), names) for words, names in zip(calls, json.loads(done.stdout), strict=True) if names]
    assert found == []
