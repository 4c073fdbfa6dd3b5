"""Which kernel and dispatch is shown: `info` lists them, `--dispatch` and `--kernel` choose, every report says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.in_process import call


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures with the same numbers, of different kernels; that of saxpy is the fuller one."""
    folder = tmp_path_factory.mktemp("two")
    for name, workgroups in (("vector_add", 1), ("saxpy", 6)):
        scenario = Scenario(kernels=(compiled(name, "gfx942"),), workgroups=workgroups)
        write_capture(synthesize(scenario), folder / name / "raw", dispatch=3)
    return folder


def test_info_has_one_row_per_dispatch(two: Path) -> None:
    rows = [line.split()[:3] for line in call("info", two).stdout.splitlines() if line[3:].startswith("3@")]
    assert rows == [[">", "3@saxpy", "blas::saxpy<64u>"], ["3@vector_add", "vector_add", rows[1][2]]]
    told = json.loads(call("info", two, "--json").stdout)["dispatches"]
    facts = [(row["key"], row["folder"], row["dispatch"], row["is_chosen"]) for row in told]
    assert facts == [("3@saxpy", "saxpy/raw", 3, True), ("3@vector_add", "vector_add/raw", 3, False)]
    assert told[0]["kernel"].startswith("void blas::saxpy<64u>(")
    assert told[0]["waves"] > told[1]["waves"] > 0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "blas::saxpy<64u> · dispatch 3@saxpy, one of 2 · gfx942 (MI300 series)"),
        (("--kernel", "vector"), "vector_add · dispatch 3@vector_add, one of 2 · gfx942 (MI300 series)"),
        (("--dispatch", "3@vector_add"), "vector_add · dispatch 3@vector_add, one of 2 · gfx942 (MI300 series)"),
        (("--dispatch", "3", "--kernel", "saxpy"), "blas::saxpy<64u> · dispatch 3@saxpy, one of 2"),
    ],
)
def test_the_choice_and_the_first_line(two: Path, options: tuple[str, ...], line: str) -> None:
    assert call("hotspots", two, *options).stdout.startswith(line)


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    "verb", ["barriers", "coverage", "diagnose", "latency", "loops", "occupancy", "source", "states"]
)
def test_every_report_begins_with_what_it_shows(two: Path, verb: str) -> None:
    done = call(verb, two / "saxpy")
    assert done.stdout.startswith("blas::saxpy<64u> · dispatch 3 · gfx942 (MI300 series)\n"), done
    subject = json.loads(call(verb, two / "saxpy", "--json").stdout)["subject"]
    assert (subject["dispatch"], subject["target"]) == (3, "gfx942")
    assert subject["kernel"].startswith("void blas::saxpy<64u>(")


def test_comparisons_name_it_too(two: Path) -> None:
    lines = call("compare", two / "saxpy", two / "saxpy").stdout.splitlines()
    assert lines[:2] == [f"{side}: blas::saxpy<64u> · dispatch 3 · gfx942 (MI300 series)" for side in "AB"]
    told = json.loads(call("compare", two / "saxpy", two / "saxpy", "--json").stdout)
    assert [subject["dispatch_key"] for subject in told["subjects"]] == ["3", "3"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dispatch", "3"), ("2 dispatches are called 3", "3@saxpy (blas::saxpy<64u>), 3@vector_add (vector_add)")),
        (("--dispatch", "4"), ("no dispatch 4", "there are: 3@saxpy")),
        (("--kernel", "gemm"), ("no dispatch of a kernel whose name contains 'gemm'", "3@saxpy (blas::saxpy<64u>)")),
        (("--dispatch", "x"), ("is not an integer",)),
        (("--dispatch", "3@"), ("names no folder or agent after @",)),
    ],
)
def test_what_is_not_there_is_said_with_what_is(two: Path, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = call("stalls", two, *options)
    assert done.status == 2
    for word in words:
        assert word in done.stderr


def test_notes_about_the_input_are_told_by_info_only(two: Path) -> None:
    assert "more dispatch here" in call("info", two).stdout
    assert "more dispatch" not in call("hotspots", two).stdout
    kinds = [loss["kind"] for loss in json.loads(call("hotspots", two, "--json").stdout)["losses"]]
    assert "other_dispatches" in kinds
