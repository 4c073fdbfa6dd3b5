"""`show(live=True)`: what the kernel answers a page in a widget, and the rows of what is selected in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavewright
from tests.kit.made_runs import run, spans
from wavewright.analysis.trace.clocks import alignment
from wavewright.model.document import Library
from wavewright.notebook.documents import document_of
from wavewright.notebook.selection import chosen_rows, read_place
from wavewright.notebook.widget import answered
from wavewright.page.payloads import ask


@pytest.fixture(scope="module")
def trace(captures: Path) -> wavewright.ThreadTrace:
    opened = wavewright.open(captures / "trace")
    assert isinstance(opened, wavewright.ThreadTrace)
    return opened


@pytest.fixture(scope="module")
def library(trace: wavewright.ThreadTrace) -> Library:
    made = Library(command="wavewright open trace")
    _ = made.add("trace", "trace", lambda: trace).opened
    return made


def asked(library: Library, path: str) -> Any:
    content, is_error = answered(library, path, "")
    assert not is_error, content
    return json.loads(content)


@pytest.mark.slow
def test_the_kernel_answers_what_a_server_answers(library: Library) -> None:
    document = library.documents[0]
    layers = {layer["name"] for layer in asked(library, "0/layers")["layers"]}
    layer = sorted(layers)[0]
    content, is_error = answered(library, f"0/spans?level=0&tile=0&layer={layer}", "")
    assert not is_error
    assert content == ask(document, "spans", {"level": "0", "tile": "0", "layer": layer}).content
    assert pl.read_ipc_stream(io.BytesIO(content)).width > 3
    assert [line["label"] for line in asked(library, "documents")] == ["trace"]
    assert asked(library, "kept") == {"entries": {}, "place": None, "problem": "", "command": "wavewright open trace"}
    assert asked(library, "0/notes")["can_save"] is False


def test_the_page_itself_comes_from_the_kernel(library: Library) -> None:
    content, is_error = answered(library, "page", "view=isa")
    assert not is_error
    assert b'<div id="app" data-at="view=isa" data-live="1">' in content
    assert b'id="answers"' not in content


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nothing",
        "0/nothing",
        "1/overview",
        "x/overview",
        "0/spans",
        "0/wave?wave=%00",
        "0/" + "a" * 20_000,
        "-1/a",
        "//[",
        "http://[::1",
    ],
)
def test_wrong_questions_are_answered_with_an_error(library: Library, path: str) -> None:
    content, is_error = answered(library, path, "")
    assert is_error
    what = json.loads(content)["error"]["what"]
    assert what and "bug" not in what
    assert len(content) < 2_000


def test_the_widget_answers_and_follows(trace: wavewright.ThreadTrace) -> None:
    view: Any = wavewright.show(trace, "isa", live=True, height=500)
    sent: list[tuple[Any, Any]] = []
    view.send = lambda content, buffers: sent.append((content, buffers))
    view._handle_custom_msg({"view": "v", "id": 4, "path": "documents"}, [])
    view._handle_custom_msg({"view": "v", "id": 5, "path": "0/nothing"}, [])
    view._handle_custom_msg({"nonsense": 1}, [])
    assert [content for content, _ in sent] == [
        {"view": "v", "id": 4, "is_error": False},
        {"view": "v", "id": 5, "is_error": True},
    ]
    assert json.loads(sent[0][1][0])[0]["kind"] == "trace"
    changes: list[Any] = []
    view.observe(lambda change: changes.append(change.new), "selection")
    assert view.selected.is_empty()
    row = int(trace.instructions["row"][100])
    view.set_state({"place": f"row={row}&wave=2&layout=t(isa;0)"})
    view.set_state({"place": f"row={row}&wave=2&time=3~90"})  # zooming is not a selection
    assert changes == [{"row": row, "wave": 2}]
    expected = trace.instructions.filter(pl.col("row") == row, pl.col("wave") == 2)
    assert view.selected.select(expected.columns).equals(expected)
    assert expected.height
    assert set(view.get_state()) >= {"place", "selection", "height"}
    assert len(json.dumps(view.get_state()["_esm"])) < 4_000  # all that a notebook stores of it
    data, _ = view._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} <= set(data)
    assert "s_waitcnt" in data["text/html"]
    assert repr(view) == "<wavewright viewer: trace; live>"


def test_the_widget_takes_over_nothing_but_its_place(trace: wavewright.ThreadTrace) -> None:
    view: Any = wavewright.show(trace, "isa", live=True, height=500)
    sent: list[Any] = []
    view.send = lambda content, buffers: sent.append(content)
    for message in (None, [], "x", 5, {"path": "page"}, {"path": "page", "id": [], "view": "v"}):
        view._handle_custom_msg(message, [])
    assert sent == []
    script = view._esm
    for state in ({"_esm": "alert(1)"}, {"selection": {"document": 99, "row": "x"}}, {"height": "x"}, {"place": 5}, []):
        view.set_state(state)
    assert (view._esm, view.selection, view.height, view.place) == (script, {}, 500, "")
    assert view.selected.is_empty()


@pytest.mark.parametrize(
    ("place", "chosen"),
    [
        ("", {}),
        ("#row=3&lastRow=9", {"row": 3, "last_row": 9}),
        ("kernelRank=1&metric=2.1.3&per=wave", {"kernel_rank": 1, "metric": "2.1.3", "per": "wave"}),
        ("file=%2Fa%20b.hip&line=7", {"file": "/a b.hip", "line": 7}),
        ("row=-3&wave=1e3&iteration=9999999999999999999999&kernel=%D9%A3", {}),
        ("range=5~1&x=y", {}),
        ("range=nan~1", {}),
        ("range=1~inf", {}),
        ("range=1~2~3", {}),
    ],
)
def test_places_are_read_or_left_out(place: str, chosen: dict[str, Any]) -> None:
    assert read_place(place) == chosen


def test_rows_of_a_trace(trace: wavewright.ThreadTrace) -> None:
    document = document_of(trace)
    count = trace.instructions.height
    code = trace.code.filter(pl.col("file").is_not_null()).row(0, named=True)
    of_line = trace.code.filter(pl.col("file") == code["file"], pl.col("line") == code["line"])["row"].to_list()
    rows = chosen_rows(document, {"file": code["file"], "line": code["line"]})
    assert set(rows["row"]) <= set(of_line)
    assert rows.height == sum(row in set(of_line) for row in trace.instructions["row"]) > 0
    assert rows["instruction"].to_list() == sorted(rows["instruction"])
    one = chosen_rows(document, {"row": rows["row"][0], "wave": rows["wave"][0], "iteration": 0})
    assert one.height == 1
    assert one["instruction"][0] == rows["instruction"][0]
    assert one["text"][0] == trace.code.filter(pl.col("row") == one["row"][0])["text"][0]
    clocks = alignment(trace)
    times = [
        time + clocks.offset(se)
        for time, se in trace.instructions.join(trace.waves, on="wave", maintain_order="left")
        .select("time_cycles", "se")
        .rows()
    ]
    middle = sorted(times)[count // 2]
    inside = chosen_rows(document, {"range": [middle, middle + 500]})
    assert inside.height == sum(middle <= time < middle + 500 for time in times) > 0
    assert chosen_rows(document, {"kernel": int(trace.waves["kernel"][0])}).height <= count
    assert chosen_rows(document, {"wave": 10**9}).is_empty()


def test_rows_of_a_run() -> None:
    events = [*spans((0, 10), (20, 30), name="a"), *spans((40, 50), name="b")]
    made = run(dispatches=events, copies=spans((5, 8)))
    document = document_of(made)
    layers = ask(document, "layers", {}).content
    first = json.loads(layers)["layers"][0]["first_items"]
    assert chosen_rows(document, {}).is_empty()
    assert chosen_rows(document, {"kernel_name": "a"})["start_ns"].to_list() == [0, 20]
    assert chosen_rows(document, {"kernel_name": "a", "range": [15, 100]})["start_ns"].to_list() == [20]
    assert chosen_rows(document, {"range": [25, 45]})["name"].cast(pl.String).to_list() == ["a", "b"]
    assert chosen_rows(document, {"range": [25, 45]}).columns == made.dispatches.columns
    assert chosen_rows(document, {"span": f"run:{first['copies']}"})["start_ns"].to_list() == [5]
    for wrong in ("run:x", "run:99999", "", "run:\u00b2", "run:" + "9" * 5000):
        with pytest.raises(wavewright.UsageError, match="no event"):
            chosen_rows(document, {"span": wrong})


def test_rows_of_counters(captures: Path) -> None:
    counters = wavewright.open(captures / "counters" / "before")
    assert isinstance(counters, wavewright.CounterSet)
    document = document_of(counters)
    rows = chosen_rows(document, {"kernel_rank": 1})
    assert set(rows["kernel_name"]) == {"gather_rows(float*, float const*, int const*)"}
    assert rows.height == 2
    assert chosen_rows(document, {}).is_empty()
    assert chosen_rows(document, {"kernel_rank": 77}).is_empty()
