"""Verbs for several kinds of input look at their arguments, not at the values of options."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.counter_capture import write_counters
from tests.cli.in_process import call
from tests.kit.made_decoded import write_decoded


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A decoded trace, next to a counter capture that is called as an option's value could be."""
    write_counters(tmp_path / "gemm")
    monkeypatch.chdir(tmp_path)
    return write_decoded(tmp_path / "traces")


@pytest.mark.parametrize("option", [("--kernel", "gemm"), ("--kernel=gemm",), ("--file", "gemm")])
def test_values_of_options_are_not_inputs(trace: Path, option: tuple[str, ...]) -> None:
    done = call("compare", trace, trace, *option)
    assert "these are" not in done.stderr
    assert "counter" not in done.stderr
    diagnosed = call("diagnose", trace, *option)
    assert "counter" not in diagnosed.stderr


def test_arguments_of_two_kinds_are_an_error(trace: Path) -> None:
    done = call("compare", trace, "gemm")
    assert done.status == 2
    assert "these are thread traces and counter captures" in done.stderr


def test_arguments_may_come_after_options(trace: Path) -> None:
    assert "does not apply" not in call("diagnose", "--kernel", "gemm", trace).stderr
    assert call("diagnose", "--top", 1, "gemm").status == 0
