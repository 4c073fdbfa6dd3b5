"""The one-file page: every answer is what the server gives, and nothing in the data gets out of its place."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import polars as pl
import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.kernels import source_paths
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from wavewright.errors import MissingToolError, UsageError
from wavewright.export.page import write_html
from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace
from wavewright.page.assets import page_folder
from wavewright.page.payloads import ask, held_by
from wavewright.page.protocol.payload import key_of
from wavewright.readers.opening import open as open_path
from wavewright.readers.run.inputs import open_run
from wavewright.readers.trace.sources import add_sources

try:
    page_folder()
except MissingToolError as error:
    pytestmark = pytest.mark.skip(reason=str(error))

HOSTILE = '</script><img src=x onerror="document.title=1"><!--'


class _Elements(HTMLParser):
    """Script and style elements of a page as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("script", "style"):
            self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data):
        if self.tags and self.tags[-1] in ("script", "style"):
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)

    def handle_endtag(self, tag):
        self.tags.append("/" + tag)


def _answers(file: Path) -> dict[str, tuple[bytes, int]]:
    blocks = {a["id"]: text for tag, a, text in _Elements(file.read_text()).found if a.get("id")}
    index = msgspec.json.decode(base64.b64decode(blocks["answers"]))
    found = {}
    for key, (block, begin, length, is_error) in index.items():
        packed = blocks[f"answers-{block}"][begin : begin + length]
        found[key] = (gzip.decompress(base64.b64decode(packed)), is_error)
    return found


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, workgroups=2, loop_trips=2)
    write_capture(synthesize(scenario), folder)
    trace = open_path(folder)
    assert isinstance(trace, ThreadTrace)
    add_sources(trace, source_paths("tiled_gemm")[0].parent)
    trace.tables["kernels"] = trace.kernels.with_columns(name=pl.lit(HOSTILE), demangled=pl.lit(HOSTILE))
    return trace


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_rocpd_ranks(folder, Workload(dispatches=60, ranks=2, nodes=1, gpus=2, seed=3))
    return open_run(folder)


@pytest.fixture(scope="module")
def exported(trace, run, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("page") / "page.html"
    written = write_html([(HOSTILE, trace), ("a run", run)], file)
    assert written.counts["documents"] == 2
    assert written.losses == []
    return file


@pytest.mark.slow
def test_every_answer_is_what_the_server_gives(exported, trace, run):
    library = Library()
    library.add(HOSTILE, HOSTILE, lambda: trace)
    library.add("a run", "a run", lambda: run)
    answers = _answers(exported)
    listed = msgspec.json.decode(answers.pop("documents")[0])
    assert [line["label"] for line in listed] == [HOSTILE, "a run"]
    assert [line["kind"] for line in listed] == ["trace", "run"]
    held = [one for document in library.documents for one in held_by(document)]
    assert {one.key for one in held} | {"0/notes", "1/notes"} == set(answers)
    assert {one.question for one in held} >= {"overview", "waves", "wave", "code", "costs"}
    for one in held:
        content, is_error = answers[one.key]
        if not is_error:
            assert content == ask(library.document(one.document), one.question, one.parameters).content, one.key
    errors = {key: content for key, (content, is_error) in answers.items() if is_error}
    assert all(msgspec.json.decode(content)["error"]["what"] for content in errors.values())


@pytest.mark.slow
def test_the_page_loads_nothing_and_runs_only_its_own_script(exported):
    text = exported.read_text()
    elements = _Elements(text)
    assert set(elements.tags) - {"/" + tag for tag in elements.tags} <= {
        "html", "head", "meta", "title", "link", "style", "body", "div", "script",
        "/html", "/head", "/title", "/style", "/body", "/div", "/script",
    }  # fmt: skip
    scripts = [(a, text) for tag, a, text in elements.found if tag == "script" and a.get("type") == "module"]
    styles = [text for tag, _, text in elements.found if tag == "style"]
    assert len(scripts) == len(styles) == 1
    assert all("src" not in attributes for _, attributes, _ in elements.found)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    allowed = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert allowed["default-src"] == "'none'"
    assert "connect-src" not in allowed
    for name, content in (("script-src", scripts[0][1]), ("style-src", styles[0])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert allowed[name] == f"'sha256-{digest}'"


@pytest.mark.slow
def test_names_of_strangers_stay_inside_the_data(exported):
    text = exported.read_text()
    assert "onerror=&quot;" in text  # the title
    assert "<img" not in text.split("<body>")[1].split('<script type="module">')[0]


@pytest.mark.slow
def test_source_texts_are_left_out_when_asked(trace, exported, tmp_path):
    line = source_paths("tiled_gemm")[0].read_text().splitlines()[0].encode()
    assert any(line in content for content, _ in _answers(exported).values())
    write_html(trace, tmp_path / "page.html", with_source=False)
    answers = _answers(tmp_path / "page.html")
    assert not any(line in content for content, _ in answers.values())
    assert trace.sources["text"].is_not_null().any()  # what was given is not changed
    assert msgspec.json.decode(answers["0/overview"][0])["holds"]["sources"] == 0


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_in_whole_groups_and_said(trace, tmp_path):
    small = write_html(trace, tmp_path / "small.html", most_bytes=20_000)
    full = write_html(trace, tmp_path / "full.html")
    few, all_of_them = _answers(tmp_path / "small.html"), _answers(tmp_path / "full.html")
    assert small.byte_count < full.byte_count
    assert {"documents", "0/overview", "0/waves", "0/code", "0/costs"} <= set(few)  # without parameters: never left out
    gone = {key.split("?")[0] for key in set(all_of_them) - set(few)}
    assert gone
    assert sum(loss.count for loss in small.losses) == len(all_of_them) - len(few)
    losses = msgspec.json.decode(few["0/overview"][0])["losses"]
    assert [loss["message"] for loss in losses if loss["kind"] == "left_out_of_page"] == [
        loss.message for loss in small.losses
    ]


@pytest.mark.slow
def test_of_a_timeline_the_finest_levels_go_first(trace, tmp_path):
    full = write_html(trace, tmp_path / "full.html")
    held: dict[str, set[int]] = {}
    for part in (3, 6, 12):
        write_html(trace, tmp_path / "part.html", most_bytes=full.byte_count // (4 * part), force=True)
        keys = [key for key in _answers(tmp_path / "part.html") if "layer=" in key and "level=" in key]
        for key in keys:
            asked = dict(pair.split("=") for pair in key.split("?")[1].split("&"))
            held.setdefault(f"{part} {asked['layer']}", set()).add(int(asked["level"]))
    assert held
    all_levels = {
        int(level) for key in _answers(tmp_path / "full.html") for level in re.findall(r"layer=.*&level=(\d+)", key)
    }
    for levels in held.values():
        assert levels == set(range(min(levels), max(levels) + 1))
        assert max(levels) in all_levels
    assert min(map(min, held.values())) < max(map(min, held.values()))


@pytest.mark.slow
def test_a_file_that_exists_is_not_replaced_unless_asked(trace, tmp_path):
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_html(trace, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "mine"
    write_html(trace, tmp_path / "page.html", force=True)
    assert (tmp_path / "page.html").stat().st_size > 100_000
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_keys_are_written_as_the_page_writes_them():
    assert (
        key_of(0, "spans", {"layer": "a & b", "level": "2", "tile": "3"}) == "0/spans?layer=a%20%26%20b&level=2&tile=3"
    )
    assert key_of(0, "x", {"name": "!*'()~-_.ü"}) == "0/x?name=!*'()~-_.%C3%BC"


def test_the_built_page_is_small():
    folder = page_folder()
    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in folder.iterdir() if file.is_file()}
    assert {"index.html", "page.js", "page.css"} <= set(sizes)
    assert sum(sizes.values()) < 400_000
    assert sizes["page.js"] < 300_000  # an exported page carries both
    assert sizes["page.css"] < 20_000
