"""What endings and logs add to verdicts about data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.capture.verdicts.attempts import WELL, attempt_in, ended
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Discovery, Recording, RunTrace
from wavewright.capture.verdicts.endings import causes_of, concluded, words_of

WANTED = Discovery(program=("app",))


@pytest.mark.parametrize(
    ("status", "stopped", "words"),
    [
        (0, "", ""),
        (7, "", "the program ended with status 7"),
        (-9, "", "the program was ended by SIGKILL"),
        (143, "", "the program was ended by SIGTERM"),
        (-40, "", "the program was ended by signal 40"),
        (255, "", "the program ended with status 255"),
        (-2, "timeout", "the program was stopped at the time limit after 12 s"),
        (-2, "interrupted", "the program was stopped on request after 12 s"),
    ],
)
def test_words(status: int, stopped: str, words: str) -> None:
    assert words_of(ended(status, stopped)) == words


def test_a_program_that_could_not_be_started() -> None:
    assert words_of(ended(None, problem="no such\x1b[2J file")) == "the program could not be started: no such file"


def test_causes_of_both_streams_and_of_the_command_are_one_list(tmp_path: Path) -> None:
    line = "Unable to open /dev/kfd read-write: Permission denied\n"
    attempt = attempt_in(tmp_path, stderr=line, stdout=line + "Segmentation fault\n")
    recording = Discovery(program=("app",), extra=("-o", "name"), variables={"ROCP_TOOL_ATTACH": "1"})
    causes = causes_of(recording, ended(-11), attempt)
    assert [(cause.number, cause.count) for cause in causes] == [(29, 2), (12, 2), (42, 1)]


@pytest.mark.parametrize(
    ("recording", "numbers"),
    [
        (Discovery(program=("app",)), [107]),
        (Discovery(program=("app",), gpu_index=2), []),
        (RunTrace(program=("app",), tool="rocprof-sys-sample"), [108]),
        (RunTrace(program=("app",), tool="rpd"), []),
    ],
)
def test_known_hangs_are_named_where_a_program_did_not_end(
    tmp_path: Path, recording: Recording, numbers: list[int]
) -> None:
    attempt = attempt_in(tmp_path)
    causes = causes_of(recording, ended(-2, "timeout"), attempt)
    assert [cause.number for cause in causes] == numbers
    assert not causes_of(recording, ended(1), attempt)
    judgement = concluded(Judgement(verdict=Verdict.NO_DISPATCH, reasons=()), ended(-2, "timeout"), causes, attempt)
    assert (judgement.verdict, [cause.number for cause in judgement.causes]) == (Verdict.HUNG, numbers)


def test_counters_that_are_0_have_a_cause_that_nothing_prints(tmp_path: Path) -> None:
    data = Judgement(verdict=Verdict.NOT_COUNTED, reasons=("every value is 0.",), advice="fix the level")
    judgement = concluded(data, WELL, (), attempt_in(tmp_path))
    assert judgement.verdict is Verdict.NOT_COUNTED
    assert [cause.number for cause in judgement.causes] == [22]


@pytest.mark.parametrize("verdict", [Verdict.GOOD, Verdict.LOSSY, Verdict.TRUNCATED, Verdict.INCOMPLETE])
@pytest.mark.parametrize("status", [0, 1, 2, 134, -11])
def test_data_that_are_kept_decide_whatever_the_log_says(tmp_path: Path, verdict: Verdict, status: int) -> None:
    attempt = attempt_in(tmp_path, stderr="[rocprofv3] Fatal error: No application provided\n")
    data = Judgement(verdict=verdict, reasons=("data.",))
    assert concluded(data, ended(status), causes_of(WANTED, ended(status), attempt), attempt).verdict is verdict


def test_missing_files_of_an_attempt_are_no_error(tmp_path: Path) -> None:
    data = Judgement(verdict=Verdict.NO_DISPATCH, reasons=("nothing.",))
    causes = causes_of(WANTED, WELL, tmp_path / "none")
    assert concluded(data, WELL, causes, tmp_path / "none").verdict is Verdict.NO_DISPATCH
