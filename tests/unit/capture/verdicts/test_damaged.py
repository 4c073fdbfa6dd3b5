"""Whatever is below an attempt, judging it gives a verdict."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from synth.profiler_output import KERNEL, make_templates, write_kernel_trace, write_placeholder, write_thread_trace
from tests.unit.capture.verdicts.attempts import attempt_in, ended
from wavewright.capture.judgement import Judgement
from wavewright.capture.kinds import Discovery, RunTrace, Samples, ThreadTraces
from wavewright.capture.verdicts import judge

WANTED = (
    ThreadTraces(program=("app",), kernel_regex="saxpy", launches=(7, 8), se_mask=3, buffer_bytes=1 << 20),
    Discovery(program=("app",)),
    RunTrace(program=("app",)),
    Samples(program=("app",)),
)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"), kinds=("good",))


def _damage(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    how = chance.choice(("flip", "cut", "empty", "noise", "remove", "folder"))
    if how == "flip":
        for _ in range(chance.randrange(1, 40)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
    elif how == "cut":
        del data[chance.randrange(len(data) + 1) :]
    elif how == "noise":
        data = bytearray(chance.randbytes(chance.randrange(5000)))
    elif how in ("remove", "folder"):
        path.unlink()
        if how == "folder":
            path.mkdir()
        return
    path.write_bytes(b"" if how == "empty" else bytes(data))


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("seed", range(12))
def test_damage_is_part_of_the_judgement(templates: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    attempt = attempt_in(tmp_path)
    raw = attempt / "raw"
    write_thread_trace(templates, raw, engines=(0, 1))
    write_kernel_trace(raw, [(KERNEL, 64)] * 9)
    write_placeholder(raw, 9)
    (attempt / "stderr.txt").write_bytes(chance.randbytes(2000))
    files = sorted(path for path in raw.rglob("*") if path.is_file())
    for path in chance.sample(files, chance.randrange(1, len(files) + 1)):
        _damage(path, chance)
    for recording in WANTED:
        judgement = judge(recording, ended(chance.choice((0, 1, 134))), attempt)
        assert isinstance(judgement, Judgement)
        assert judgement.reasons
        assert all(reason.isprintable() for reason in judgement.reasons)
