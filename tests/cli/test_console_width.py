"""Whatever COLUMNS says: every verb prints its answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.in_process import call
from tests.property.subjects import written
from wavewright.cli.kit.io import width_of

ODD = ("0", "1", "-5", "abc", "", "00", "1e3", "\u0663", "100000", "9" * 5000)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(str(tmp_path_factory.mktemp("width")))


@pytest.mark.parametrize(
    ("columns", "terminal", "width"),
    [
        ("100", None, 100), ("100", 70, 100), ("", 70, 70), ("", None, 120), ("0", None, 120), ("0", 70, 70),
        ("abc", 70, 70), ("-5", None, 120), ("1", None, 20), ("", 3, 20), ("100000", 70, 1000), ("9" * 5000, 70, 70),
    ],
)  # fmt: skip
def test_one_place_decides(columns: str, terminal: int | None, width: int) -> None:
    assert width_of(columns, terminal) == width


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("verb", "kind"),
    [("summary", "run"), pytest.param("diagnose", "trace", marks=pytest.mark.slow), ("counters", "counters")],
)
def test_answers_are_printed_at_any_width(
    paths: dict[str, Path], verb: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    usual = call(verb, paths[kind])
    assert usual.status == 0
    for columns in ODD:
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setenv("LINES", columns)
        done = call(verb, paths[kind])
        assert done.status == 0, (columns, done.stderr)
        assert len(done.stdout.split()) > 20, columns
        if width_of(columns, None) == 120:
            assert done.stdout == usual.stdout
