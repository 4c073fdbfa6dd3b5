"""`wavewright capture` as a group: what it lists, and how it answers mistakes."""

from __future__ import annotations

import pytest

from tests.cli.in_process import call
from wavewright.cli.capture import SUBCOMMANDS

WITH_PROGRAM = ("discover", "att", "samples", "run")


def test_help_lists_every_subcommand() -> None:
    done = call("capture", "--help")
    assert done.status == 0
    assert all(f"  {name} " in done.stdout for name in SUBCOMMANDS)
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", WITH_PROGRAM)
def test_help_of_a_capture(name: str) -> None:
    done = call("capture", name, "--help")
    assert done.status == 0
    assert f"Usage: wavewright capture {name} [OPTIONS] -- PROGRAM..." in done.stdout
    for option in ("--output", "--dry-run", "--rocprofv3", "--gpu", "--timeout", "--grace", "--attempts", "--wait"):
        assert option in done.stdout
    for option in ("--share", "--env", "--cwd", "--host", "--container", "--resume", "--force", "--json", "--open"):
        assert option in done.stdout


@pytest.mark.parametrize(
    ("word", "meant"),
    [("pmc", "counters"), ("thread-trace", "att"), ("discovery", "discover"), ("sample", "samples"), ("pol", "pool")],
)
def test_unknown_subcommand(word: str, meant: str) -> None:
    done = call("capture", word)
    assert done.status == 2
    assert f"there is no capture '{word}'" in done.stderr
    assert f"wavewright capture {meant} " in done.stderr


def test_verbs_of_other_profilers_lead_here() -> None:
    assert "wavewright capture (" in call("record").stderr


MISTAKES = [
    (["discover"], "which program?", "wavewright capture discover -- python bench.py"),
    (["att", "--"], "which program?", "--"),
    (["att", "--", ""], "which program?", "--"),
    (
        ["att", "--gpu", "2", "python", "b.py", "--size", "8"],
        "'python' has no -- before it",
        "wavewright capture att --gpu 2 -- python b.py --size 8",
    ),
    (["att", "python", "--", "b.py"], "'python' stands before --", "options first"),
    (["run", "--rocm-version", "7.2", "--", "x"], "--rocm-version says which release to assume", "--dry-run"),
    (["run", "--resume", "--force", "-o", "f", "--", "x"], "--resume goes on", "one of them"),
    (["run", "--resume", "--", "x"], "--resume needs the folder", "-o FOLDER"),
    (["run", "--json", "--open", "--", "x"], "--open shows the capture in a browser", "one of them"),
    (["run", "--env", "A", "--", "x"], "--env 'A' is not NAME=VALUE", "--env HSA_XNACK=1"),
    (["run", "--env", "1A=2", "--", "x"], "--env '1A=2' is not NAME=VALUE", ""),
    (["run", "--what", "kernel,colour", "--dry-run", "--", "x"], "not a part of a run: 'colour'", "kernel, hip"),
    (["run", "--what", " , ", "--dry-run", "--", "x"], "nothing of the run is to be recorded", "kernel, hip"),
    (["run", "--extra", "'a", "--", "x"], "cannot be split into words", ""),
    (["att", "--kernel", "a", "--regex", "b", "--", "x"], "--kernel and --regex both choose kernels", "one of them"),
    (["att", "--kernel", " ", "--", "x"], "--kernel has no name", "capture discover"),
    (["att", "--one", "--launch", "3", "--", "x"], "--one chooses a launch", "one of them"),
    (["att", "--discovery", "nowhere", "--dry-run", "--", "x"], "no such file or folder", "--discovery"),
    (["run", "--dry-run", "--rocm-version", "5.7", "--", "x"], "5.7", ""),
]


@pytest.mark.parametrize(("words", "what", "advice"), MISTAKES, ids=lambda value: " ".join(value)[:40])
def test_mistakes_get_one_sentence_and_advice(words: list[str], what: str, advice: str) -> None:
    done = call("capture", *words)
    assert done.status == 2, done.stdout
    assert done.stdout == ""
    assert what in done.stderr.splitlines()[0]
    assert advice in done.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["att", "--launch", "0", "--", "x"], "--launch"),
        (["att", "--launch", "8-7", "--", "x"], "--launch"),
        (["att", "--buffer", "1 XB", "--", "x"], "--buffer"),
        (["att", "--cu", "16", "--", "x"], "--cu"),
        (["att", "--se", "zero", "--", "x"], "--se"),
        (["att", "--attempts", "0", "--", "x"], "--attempts"),
        (["att", "--timeout", "nan", "--", "x"], "--timeout"),
        (["samples", "--interval", "0", "--", "x"], "--interval"),
        (["samples", "--method", "magic", "--", "x"], "--method"),
    ],
)
def test_values_out_of_bounds(words: list[str], what: str) -> None:
    done = call("capture", *words)
    assert done.status == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr
