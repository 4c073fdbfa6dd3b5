"""Every option of every verb that takes a number: at its bounds, beyond them, and where machines stumble.

Options are found by their types, so that a new one is swept without being named; one without bounds is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.in_process import call
from tests.property.subjects import around, written
from wavewright.cli import _group
from wavewright.cli.kit.options import Whole

NOT_RUN = ("--jobs", "--threads", "--port")
"""With these, numbers within the bounds start processes or servers: only what is refused is called."""
RANGES = (
    "60:50", "50%:20%", "1e300:2", f"{1 << 70}:", f":-{1 << 70}", f"-{1 << 70}:{1 << 70}", "0:0", ":", "a:b",
    "9" * 5000, "9" * 5000 + ":", f"0.{'1' * 5000}s:",
)  # fmt: skip


def _options() -> Iterator[tuple[str, str, Any]]:
    """Verb, option and type, every pair of option and bounds once."""
    context = click.Context(_group)
    seen = set()
    for verb in _group.list_commands(context):
        command = _group.get_command(context, verb)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option):
                key = (option.opts[-1], repr(getattr(option.type, "bounds", type(option.type))))
                if key not in seen:
                    seen.add(key)
                    yield verb, option.opts[-1], option.type


OPTIONS = list(_options())
NUMBERS = [entry for entry in OPTIONS if isinstance(entry[2], Whole)]
NUMBER_NAMES = [f"{verb}{option}" for verb, option, _ in NUMBERS]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(str(tmp_path_factory.mktemp("edges")))


def _inputs(verb: str, paths: dict[str, Path], folder: Path) -> list[object]:
    """What makes a verb work: an input of its kind, and an output."""
    given: dict[str, list[object]] = {
        "closure": [paths["counters"]],
        "compare": [paths["trace"], paths["trace"]],
        "convert": [paths["run"], "-f", "csv", "-o", folder / "out", "--force"],
        "counters": [paths["counters"]],
        "decode": [paths["trace"], "-o", folder / "out", "--force"],
        "l2": [paths["counters"]],
        "roofline": [paths["counters"]],
        "memory-chart": [paths["counters"]],
        "query": [paths["run"], "SELECT 1"],
        "window": [paths["run"], "-o", folder / "out.rpd", "--force"],
        "demo": [],
    }
    runs = ("busy", "gaps", "kernels", "overlap", "ranks", "regions", "summary", "tables", "top", "merge", "split")
    runs += ("collectives", "launches", "steps")
    return given.get(verb, [paths["run" if verb in runs else "trace"]])


def _check(status: int, text: str) -> None:
    assert status in (0, 1, 2, 3), text
    assert "bug" not in text
    assert "Traceback" not in text


def test_every_number_has_bounds() -> None:
    plain = (click.types.IntParamType, click.types.FloatParamType, click.IntRange, click.FloatRange)
    assert [(verb, name) for verb, name, kind in OPTIONS if isinstance(kind, plain)] == []
    assert len(NUMBERS) > 20


@pytest.mark.first_case
@pytest.mark.parametrize(("verb", "option", "kind"), NUMBERS, ids=NUMBER_NAMES)
def test_numbers_beyond_their_bounds(
    verb: str, option: str, kind: Whole, paths: dict[str, Path], tmp_path: Path
) -> None:
    inputs = _inputs(verb, paths, tmp_path)
    beyond = [value for value in around(kind.bounds) if not kind.bounds.holds(value)]
    for text in (*map(str, beyond), "nan", "", "abc", "9" * 5000):
        done = call(verb, *inputs, f"{option}={text}")
        assert done.status == 2, (text, done.stderr)


@pytest.mark.some_cases(5)
@pytest.mark.parametrize(
    ("verb", "option", "kind"),
    [
        pytest.param(*number, marks=pytest.mark.slow if place % 3 else (), id=name)
        for place, (number, name) in enumerate(zip(NUMBERS, NUMBER_NAMES, strict=True))
        if number[1] not in NOT_RUN
    ],
)
def test_numbers_at_their_bounds(verb: str, option: str, kind: Whole, paths: dict[str, Path], tmp_path: Path) -> None:
    for value in kind.bounds:
        done = call(verb, *_inputs(verb, paths, tmp_path), f"{option}={value}")
        _check(done.status, done.stderr)


@pytest.mark.first_case
@pytest.mark.parametrize(("verb", "kind"), [("hotspots", "trace"), ("top", "run")])
def test_ranges_that_are_none(verb: str, kind: str, paths: dict[str, Path]) -> None:
    for text in RANGES:
        done = call(verb, paths[kind], f"--time={text}")
        _check(done.status, done.stderr)
        if text in ("60:50", "50%:20%"):
            assert done.status == 2


def test_ids_of_dispatches(paths: dict[str, Path]) -> None:
    for text in ("7-3", f"{1 << 70}", f">{1 << 70}", f"<{1 << 70}", "0-99999999999999999999", "-1", ">", "9" * 5000):
        done = call("roofline", paths["counters"], f"--dispatch={text}")
        _check(done.status, done.stderr)


def test_lines_of_source(paths: dict[str, Path]) -> None:
    for text in ("0", "-1", f"{1 << 70}", f"1:{1 << 70}", "9:1", "9" * 5000):
        done = call("hotspots", paths["trace"], f"--line={text}")
        _check(done.status, done.stderr)
