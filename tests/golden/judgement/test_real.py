"""Real traces: the first finding is one that separate evidence allows (truth.toml), and no promise exceeds the time."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wavewright
from wavewright.analysis.trace.diagnose import Diagnosis, diagnose
from wavewright.words.trace.diagnose import verdict

TRUTH = tomllib.loads(Path(__file__).with_name("truth.toml").read_text())
ROUNDING = 1e-6
POOL = {"wait vector load", "VMEM issue", "FLAT issue", "wait load to LDS", "wait store", "store drain"}


def cases() -> list[Any]:
    """Every trace of the table, captures of MI300X raw and as AMD decoded them; the first of each cause is quick."""
    found = []
    seen = set()
    for entry in TRUTH["trace"]:
        path, dispatch = entry["path"], entry.get("dispatch")
        name = path.removeprefix("data/").removesuffix(".tar.xz").replace("uiout-mi350x-flydsl/", "")
        kind = (path.split("/")[1], *entry["first"])
        is_slow = entry.get("slow") or kind in seen
        if not is_slow:
            seen.add(kind)
        marks = (pytest.mark.slow,) if is_slow else ()
        if dispatch is None:
            found.append(pytest.param(entry, path, id=name, marks=marks))
            continue
        found.append(pytest.param(entry, f"{path}/raw", id=f"{name}-{dispatch}-raw", marks=marks))
        found.append(pytest.param(entry, f"{path}/decoded", id=f"{name}-{dispatch}-decoded", marks=pytest.mark.slow))
    return found


def findings(shared: Path, place: str, dispatch: int | None) -> tuple[Any, ...]:
    """What diagnose finds in the trace at a place of ../shared."""
    return diagnosis(shared, place, dispatch).findings


@cache
def diagnosis(shared: Path, place: str, dispatch: int | None) -> Diagnosis:
    """The diagnosis of the trace at a place of ../shared."""
    path = shared / place
    if dispatch is None:
        trace = wavewright.decode(path) if place.startswith("golden") else wavewright.open(path)
    elif path.name == "raw":
        trace = wavewright.decode(path, dispatch=dispatch)
    else:
        (folder,) = path.parent.glob(f"ui_output_agent_*_dispatch_{dispatch}")
        trace = wavewright.open(folder)
    return diagnose(trace)


def allowed(entry: dict[str, Any]) -> set[str]:
    """Names of findings that may come first, with lists filled in."""
    lists = TRUTH["lists"]
    return {name for item in entry["first"] for name in (lists[item[1:]] if item.startswith("@") else [item])}


def shown(found: tuple[Any, ...]) -> str:
    return "; ".join(f"{finding.name} {finding.gain_share_max:.3f}" for finding in found) or "nothing"


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(("entry", "place"), cases())
def test_first_finding_is_true_and_promises_do_not_exceed_the_time(
    shared: Path, entry: dict[str, Any], place: str
) -> None:
    found = findings(shared, place, entry.get("dispatch"))
    if found:
        assert found[0].name in allowed(entry), f"{entry['cause']}: {shown(found)}"
    else:
        assert entry.get("nothing"), f"{entry['cause']}: nothing was found"
    answer = diagnosis(shared, place, entry.get("dispatch"))
    is_cold = entry.get("cold", False)
    assert any(caveat.name == "cold_launch" for caveat in answer.trust.caveats) == is_cold
    assert verdict(answer).startswith("A cold launch") == is_cold
    assert answer.trust.cycles != "good" or not is_cold
    gains = [finding.gain_share_max for finding in found]
    assert bool(answer.order_note) == (gains != sorted(gains, reverse=True)), shown(found)
    promised: dict[str, float] = defaultdict(float)
    for finding in found:
        assert 0 <= finding.gain_share_min <= finding.gain_share_max + ROUNDING, finding.name
        promised[finding.gain_basis] += finding.gain_share_max
    assert all(share <= 1 + ROUNDING for share in promised.values()), promised


@pytest.mark.parametrize("form", ["raw", "decoded"])
def test_wider_loads_alone_are_not_promised(shared: Path, form: str) -> None:
    """c09 is c08 with 16-byte loads, and 10.6 % slower: issue pressure and waits are one cause with one bound."""
    found = findings(shared, f"data/att-mi300x-bmm/c08/{form}", 3)
    pools = [finding for finding in found if finding.name in POOL]
    assert len(pools) == 1, shown(found)
    for remedy in pools[0].remedies:
        assert "wider" not in remedy.text or "alone" in remedy.text, remedy.text


def test_every_trace_of_the_shared_data_has_its_truth(shared: Path) -> None:
    """A trace that is added needs a line."""
    listed = {(entry["path"], entry.get("dispatch")) for entry in TRUTH["trace"]}
    folders = (shared / "data" / "uiout-mi350x-flydsl").glob("*/*/ui_output_*")
    there = {(path.relative_to(shared).as_posix(), None) for path in folders}
    for folder in (shared / "data" / "att-mi300x-bmm").glob("c*/ui_output_*"):
        there.add((folder.parent.relative_to(shared).as_posix(), int(folder.name.rpartition("_")[2])))
    there |= {(path.relative_to(shared).as_posix(), None) for path in (shared / "golden").glob("gfx1*/profile_*")}
    there |= {(path.relative_to(shared).as_posix(), None) for path in (shared / "golden").glob("gfx950/profile_*")}
    assert there == listed
