from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.kit.together import together
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.result import Attempt, Result
from wavewright.capture.judgement import Cause, Judgement, TracedDispatch, Verdict
from wavewright.capture.wanted import Counters, Discovery, RunTrace, Samples, ThreadTraces, Wanted
from wavewright.words.capture.result import next_commands, result_json, result_report
from wavewright.writers.terminal.blocks import plain_text

ESC = chr(27)
GOOD = TracedDispatch(
    dispatch=15,
    folder="raw",
    kernel="void blas::saxpy<64u>(float, float const*)",
    launch=9,
    wave_count=20,
    instruction_count=1280,
    mapped_share=0.99,
    is_truncated=False,
    is_lossy=False,
    size_bytes=8200,
    is_placeholder=False,
)
PLACEHOLDER = replace(GOOD, dispatch=16, launch=10, wave_count=0, instruction_count=0, is_placeholder=True)


def result_of(judgement: Judgement, wanted: Wanted | None = None, attempts: int = 1) -> Result:
    job = Job(wanted=wanted or ThreadTraces(program=("./gemm",)), name="gemm")
    folder = Path("/captures/gemm run")
    tries = [
        Attempt(
            number=number, folder=folder / "attempts" / str(number), wanted=job.wanted, judgement=judgement, ending=None
        )
        for number in range(1, attempts + 1)
    ]
    return Result(id="3f2a", job=job, folder=folder, attempts=tuple(tries), best=tries[-1])


def text_of(result: Result, width: int = 80) -> str:
    return plain_text(result_report(result, width=width), width)


def test_good_traces() -> None:
    judgement = Judgement(
        verdict=Verdict.GOOD, reasons=("20 waves.",), dispatches=(GOOD, PLACEHOLDER), noise_share=0.059
    )
    text = text_of(result_of(judgement, attempts=3))
    assert text.startswith("thread traces of gemm: good after 3 attempts, in /captures/gemm run")
    assert "1 traced dispatch\n" in text
    assert "blas::saxpy<64u>" in text
    assert "1 dispatch without a wave: 16; --clean removes such folders" in text
    assert "differ by 5.9 %" in text
    assert "wavewright diagnose '/captures/gemm run'" in text
    assert max(map(len, text.splitlines())) <= 80


def test_counters_that_are_missing_or_zero() -> None:
    names = tuple(f"SQ_COUNTER_{number}" for number in range(20))
    judgement = Judgement(verdict=Verdict.INCOMPLETE, reasons=("no.",), missing=names, silent=("GRBM_COUNT",))
    text = " ".join(text_of(result_of(judgement, Counters(program=("x",)))).split())
    assert "missing SQ_COUNTER_0, SQ_COUNTER_1" in text
    assert "and 8 more" in text
    assert "zero GRBM_COUNT" in text
    assert "wavewright counters" in text


def test_causes_and_hostile_text() -> None:
    cause = Cause(
        number=9, line=f"Thread trace {ESC}[2Jbuffer full!", cause="The buffer was full.", remedy="A larger one."
    )
    judgement = Judgement(verdict=Verdict.REFUSED, reasons=(f"refused {ESC}]0;x",), advice="do it", causes=(cause,) * 7)
    text = text_of(result_of(judgement))
    assert ESC not in text
    assert "2 more messages of AMD's tools" in text
    assert "   try     do it" in text
    assert "what to look at" not in text


@together("width", [40, 60, 80, 200])
def test_nothing_is_cut_silently(width: int) -> None:
    path = "/very/" + "long/" * 40 + "stderr.txt"
    judgement = Judgement(verdict=Verdict.FAILED, reasons=(f"see {path}",), dispatches=(GOOD,) * 30)
    text = text_of(result_of(judgement), width)
    assert path in "".join(line.removeprefix("   why").strip() for line in text.splitlines())
    assert "showing 10 of 30 traced dispatches" in text


@together(
    "wanted, verb",
    [
        (Discovery(program=("x",)), "top"),
        (ThreadTraces(program=("x",)), "diagnose"),
        (Counters(program=("x",)), "counters"),
        (Samples(program=("x",)), "hotspots"),
        (RunTrace(program=("x",)), "summary"),
    ],
)
def test_next_commands(wanted: Wanted, verb: str) -> None:
    good = result_of(Judgement(verdict=Verdict.GOOD, reasons=()), wanted)
    assert next_commands(good)[0][0] == f"wavewright {verb} '/captures/gemm run'"
    for verdict in (Verdict.EMPTY, Verdict.FAILED, Verdict.HUNG, Verdict.NO_DISPATCH):
        assert next_commands(result_of(Judgement(verdict=verdict, reasons=()), wanted)) == []


def test_nothing_was_judged() -> None:
    result = replace(result_of(Judgement(verdict=Verdict.GOOD, reasons=())), attempts=(), best=None)
    assert "interrupted" in text_of(result)
    assert result_json(result)["verdict"] == "interrupted"
    assert result_json(result)["raw"] is None
