"""`wavewright.show`: the page in a frame, its size, its part of the time, its view."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import wavewright
from tests.kit.made_runs import run, spans
from wavewright.analysis.trace.clocks import alignment
from wavewright.model.run import Run
from wavewright.notebook import show as showing
from wavewright.notebook.show import VIEWS, part_of, view_id

SOURCES = Path(__file__).parents[2] / "web" / "src"
FRAME = re.compile(r'<iframe sandbox="allow-scripts" title="([^"]*)" style="([^"]*)" srcdoc="([^"]*)"></iframe>$')


def small_run() -> Run:
    return run(dispatches=spans((0, 1000), (2000, 9000)))


def page_in(view: Any) -> str:
    match = FRAME.search(view._repr_html_())
    assert match
    return html.unescape(match[3])


@pytest.mark.slow
def test_the_page_is_in_a_frame_that_reaches_nothing() -> None:
    view = wavewright.show(small_run(), height=432)
    assert isinstance(view, showing.View)
    shown = view._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/markdown", "text/html"}
    assert shown["text/html"].count("<iframe") == 1
    assert shown["text/html"].index("<table") < shown["text/html"].index("<iframe")
    assert "<script" not in shown["text/html"]  # the page's own are inside an attribute
    match = FRAME.search(shown["text/html"])
    assert match
    assert "height:432px" in match[2]
    page = page_in(view)
    assert page.startswith("<!doctype html>")
    assert '<div id="app">' in page  # the first view is in front
    assert "default-src 'none'" in page
    assert view.byte_count == len(match[0].encode())
    assert f"{view.byte_count / 1e6:.1f} MB" in repr(view)
    assert wavewright.show(small_run(), height=432)._repr_html_() == shown["text/html"]  # the same bytes every time


@pytest.mark.slow
def test_a_view_is_brought_to_the_front() -> None:
    assert '<div id="app" data-at="view=run_timeline">' in page_in(wavewright.show(small_run(), "timeline"))
    with pytest.raises(wavewright.UsageError, match="no view 'isa' of a run; views: run_losses, run_timeline"):
        wavewright.show(small_run(), "isa")


def test_the_views_are_those_of_the_page() -> None:
    registry = (SOURCES / "app" / "registry.ts").read_text()
    order = re.findall(r"^  (\w+),$", registry[: registry.index("FIRST_LAYOUT")], re.MULTILINE)
    views: dict[str, tuple[str, str]] = {}  # name in the source -> id, kind
    for file in (SOURCES / "views").rglob("*.tsx"):
        text = file.read_text()
        for name, body in re.findall(r"export const (\w+): View = \{(.*?)\};?$", text, re.MULTILINE | re.DOTALL):
            identity, about = re.search(r'\bid: "(\w+)"', body), re.search(r'about: "(\w+)"', body)
            assert identity
            assert about
            views[name] = identity[1], about[1]
        views |= {
            name: (id_, kind) for name, kind, id_ in re.findall(r'const (\w+) = galleryOf\("(\w+)", "(\w+)"', text)
        }
    by_kind: dict[str, list[str]] = {"trace": [], "run": [], "counters": [], "store": []}
    for name in order:
        identity_, kind = views[name]
        by_kind[kind].append(identity_)
    del by_kind["store"]  # a notebook shows no stores
    assert {kind: list(ids) for kind, ids in VIEWS.items()} == by_kind
    assert view_id("counters", "Speed of light") == "speed_of_light"


def test_only_a_part_of_the_time(captures: Path) -> None:
    whole = run(dispatches=spans(*((n * 1000, n * 1000 + 500) for n in range(100))))
    part = part_of(whole, "20%:40%")
    assert isinstance(part, Run)
    assert 18 <= part.dispatches.height <= 22
    trace = wavewright.open(captures / "trace")
    assert isinstance(trace, wavewright.ThreadTrace)
    fewer = part_of(trace, "30%:60%")
    assert isinstance(fewer, wavewright.ThreadTrace)
    offsets = alignment(trace).offsets  # a part of the time is one of the clock that all shader engines share
    moved = {row["wave"]: offsets[row["se"]] for row in trace.waves.to_dicts()}
    offset = trace.waves["wave"].replace_strict(moved)
    first, last = (trace.waves["start_cycles"] + offset).min(), (trace.waves["end_cycles"] + offset).max()
    low, high = first + 0.3 * (last - first), first + 0.6 * (last - first)
    times = trace.instructions["time_cycles"] + trace.instructions["wave"].replace_strict(moved)
    inside = trace.instructions.filter(times.is_between(round(low), round(high) - 1))
    assert fewer.instructions.height == inside.height > 0
    assert part_of(trace, f"{first}:").instructions.height == trace.instructions.height  # type: ignore[union-attr]
    assert part_of(trace, None) is trace


@pytest.mark.parametrize("time", ["", "5", ":", "a:b", "50%:x", "-5%:", "140%:"])
def test_times_that_make_no_sense(captures: Path, time: str) -> None:
    with pytest.raises(wavewright.UsageError):
        part_of(wavewright.open(captures / "trace"), time)


def test_counters_have_no_time(captures: Path) -> None:
    with pytest.raises(wavewright.UsageError, match="counters have no time"):
        wavewright.show(wavewright.open(captures / "counters" / "before"), time="0%:10%")


@pytest.mark.slow
def test_a_page_that_is_too_large_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "MOST_BYTES", 900_000)  # the page alone is larger
    with pytest.raises(wavewright.UsageError, match=r"holds 8 MB of it; time='30%:60%'.*live=True"):
        wavewright.show(small_run())
    monkeypatch.setattr(showing, "MOST_BYTES", 4_000)  # its answers alone are larger: some were not even asked for
    with pytest.raises(wavewright.UsageError, match="more than 8 MB"):
        wavewright.show(small_run())


@pytest.mark.slow
def test_a_large_page_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "LARGE_BYTES", 500_000)  # others are not: warnings are errors in all tests
    with pytest.warns(UserWarning, match=r"this output adds 1\.\d MB to the notebook; time=") as record:
        wavewright.show(small_run())
    assert record[0].filename == __file__


@pytest.mark.slow
def test_several_documents_have_different_names() -> None:
    page = page_in(wavewright.show([small_run(), small_run()]))
    assert "<title>run.db, run.db (2)</title>" in page
    with pytest.raises(wavewright.UsageError, match="nothing to show"):
        wavewright.show([])


@pytest.mark.parametrize("wrong", ["results.db", 7, None])
def test_what_cannot_be_shown(wrong: Any) -> None:
    with pytest.raises((wavewright.UsageError, TypeError)):
        wavewright.show([wrong])


@pytest.mark.parametrize("height", [0, 50, 100_000])
def test_heights(height: int) -> None:
    with pytest.raises(wavewright.UsageError, match="200 to 4,000 pixels"):
        wavewright.show(small_run(), height=height)


def test_public_names() -> None:
    assert {"show", "ask"} <= set(wavewright.__all__)
    assert json.dumps(sorted(wavewright.__all__)) == json.dumps(wavewright.__all__)
