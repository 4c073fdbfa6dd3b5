"""`wavewright loop`: one turn of tuning over captures whose difference is planted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

KEYS = {
    *("schema_version", "inputs", "definition", "kind", "outcome", "decided_by", "change", "noise", "reasons"),
    *("explained_by", "next_commands", "findings", "headline", "losses"),
}


def asked(run: Run, *words: object) -> tuple[int, dict]:
    done = run("loop", *words, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the demo: `after` has a kernel that takes 30 % longer."""
    from wavewright.cli import _group

    folder = tmp_path_factory.mktemp("runs") / "kept"
    _group.main(["demo", "--run", "--keep", str(folder)], standalone_mode=False)
    return folder


@pytest.mark.slow
def test_a_slower_and_a_faster_run_and_the_same_one(run: Run, runs: Path) -> None:
    status, worse = asked(run, runs / "before", runs / "after", "--kernel", "flash_forward")
    assert (status, worse["outcome"], set(worse)) == (1, "worse", KEYS)
    assert worse["change"] == pytest.approx(0.3, abs=0.05)
    assert worse["next_commands"][0].startswith("wavewright compare")
    status, better = asked(run, runs / "after", runs / "before", "--kernel", "flash_forward")
    assert (status, better["outcome"]) == (0, "better")
    assert 0 < better["findings"]["row_count"] <= 3
    status, equal = asked(run, runs / "before", runs / "before")
    assert (status, equal["outcome"]) == (0, "equal")


@pytest.mark.slow
def test_a_single_trace_on_each_side_cannot_tell(run: Run, shared: Path) -> None:
    folder = shared / "data" / "att-mi300x-bmm"
    status, answer = asked(run, folder / "c05" / "raw", folder / "c06" / "raw")
    assert (status, answer["outcome"]) == (6, "cannot tell")
    assert "cold instruction fetch" in answer["explained_by"]
    assert answer["change"] == pytest.approx(36_444 / 39_303 - 1, abs=1e-4)


@pytest.mark.slow
def test_brief_is_short_and_kinds_must_agree(run: Run, runs: Path) -> None:
    assert len(run("loop", runs / "before", runs / "after", "--brief").stdout) < 8_000
    assert run("loop", runs / "before", __file__).returncode in (2, 3)


@pytest.mark.slow
def test_agents_get_the_same_verdict(run: Run, runs: Path) -> None:
    from wavewright.mcp.dispatcher import Dispatcher

    dispatcher = Dispatcher.over([runs])
    names = {"capture": str(runs / "after"), "other": str(runs / "before"), "as": "loop"}
    reply = dispatcher.answered("compare", names, lambda _: None)
    _, told = asked(run, runs / "after", runs / "before")
    assert not reply["isError"], reply
    assert told["outcome"] in reply["content"][0]["text"]
