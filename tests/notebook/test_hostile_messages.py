"""The widget in JupyterLab with hostile messages and names: nothing runs, no other file is read, the kernel goes on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.notebook.conftest import PATIENCE_S, Program
from tests.notebook.test_jupyterlab import open_notebook, output, run_all

pytestmark = pytest.mark.slow
SECRET = "PLANTED_SECRET_12345"  # noqa: S105 - what no answer may contain
#: Names that run a script, or load something, where they are taken for HTML.
NAMES = (
    "<script>alert(1)</script>",
    "<img src=http://planted.invalid/a onerror=alert(2)>",
    "</script></style></textarea></iframe><svg onload=alert(3)>",
    "\"'><iframe srcdoc='<script>parent.alert(4)</script>'></iframe>",
    "[a](javascript:alert(5)) <a href=javascript:alert(6)>x</a> $\\href{javascript:alert(7)}{x}$",
    "\u202eltr\u2066\u200f \x1b[31mred\x1b]0;title\x07 \x00\ufffe &lt;b&gt; {{7*7}} ${alert(8)}",
)
CELLS = (
    "import wavewright\nrun = wavewright.open('hostile')\nwavewright.ask(run, 'kernels')",
    "wavewright.show(run, 'kernels')",
    "view = wavewright.show(run, 'kernels', live=True)\nview",
    "print('model', view.model_id)",
    "print('alive', view.selected.height, len(run.dispatches), 6 * 7)",
)
#: Sends a question as the page in the frame does, and waits for the answer.
ASK = """([id, path, milliseconds]) => new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`no answer to ${path.slice(0, 60)}`)), milliseconds);
    const hear = ({ data }) => {
        if (data.id !== id) return;
        removeEventListener("message", hear);
        done([data.isError, new TextDecoder().decode(data.bytes)]);
    };
    addEventListener("message", hear);
    parent.postMessage({ id, path }, "*");
})"""
#: Messages of a page that ask nothing; each is an expression, as JSON cannot hold all of them.
NONSENSE = (
    "null", "0", "'x'", "[]", "{}", "{path: 5, id: 1}", "{path: {}, id: 1}", "{path: 'documents', id: 10n}",
    "{path: 'documents', id: {a: [1]}}", "{path: 'documents', id: -1}", "{path: '0/overview', id: 0}",
    "{path: 'documents', id: NaN}", "{path: 'documents'}", "{place: 5}", "{place: ['x']}",
    "{place: 'span=run:\\u00b2&document=99&row=-1&range=nan~5'}", "{place: 'x'.repeat(2000000)}",
    "{place: '%00=&file=%ff'}", "{place: 'document=99'}", "{place: ''}",
)  # fmt: skip
#: Questions that have an answer: an error in one sentence.
WRONG = (
    "", "nothing", "//[", "http://[::1", "9/overview", "-1/overview", "x/overview", "\u00b2/overview", "0/nothing",
    f"{'9' * 5000}/overview", "0/__class__", "0/spans?level=1e999&tile=-1&layer=%00", "0/" + "a" * 20_000,
    "0/" + "/" * 15_000, "x" * 5_000_000, "\ud800/overview", "0/event?item=\u00b2",
)  # fmt: skip
PLACES = ("secret.txt", "../secret.txt", "/etc/passwd", "file:///etc/passwd", "..%2f..%2fsecret.txt")
READING = ("0/source?file={}", "0/source?path={}", "0/file?path={}", "0/../{}", "{}", "0/{}", "page?path={}")
#: What is sent to the widget past its own script, as another script in the notebook could.
COMMS = (
    {}, {"method": "nonsense"}, {"method": "custom"}, {"method": "update"}, {"method": "update", "state": 5},
    *({"method": "custom", "content": content} for content in (
        None, [], "x", 5, True, {"path": 5}, {"path": None, "id": []}, {"path": "documents"},
        {"path": "documents", "id": True, "view": "v"}, {"path": "documents", "id": {"a": [1]}, "view": ["v"]},
        {"path": "documents", "id": 1e300, "view": {}}, {"path": "x" * 3_000_000, "id": 1, "view": "v"},
    )),
    *({"method": "update", "state": state} for state in (
        {"place": 5}, {"selection": "x"}, {"height": "tall"}, {"height": -(10**30)}, {"place": None}, {"unknown": 1},
        {"selection": {"document": 99, "row": "x", "range": [[], {}]}}, {"_esm": "alert(9)", "library": {}},
    )),
)  # fmt: skip
SEND = """([comm, data, depth]) => {
    for (let n = 0; n < depth; n++) data = { method: "custom", content: [data] };
    const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const header = {
        msg_id: crypto.randomUUID(), msg_type: "comm_msg", username: "", session: kernel.clientId,
        date: new Date().toISOString(), version: "5.3",
    };
    kernel.sendShellMessage({
        header, parent_header: {}, metadata: {}, channel: "shell", content: { comm_id: comm, data }, buffers: [],
    });
}"""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1300, "height": 1500})
    context.set_default_timeout(1000 * PATIENCE_S)
    yield context.new_page()
    context.close()


def write_hostile_run(folder: Path) -> None:
    """A run whose names of kernels, markers, machines and commands are all of NAMES."""
    write_rocpd_ranks(folder, Workload(dispatches=40, ranks=1, seed=3))
    (path,) = folder.glob("*.db")
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {"string": ["string"], "info_kernel_symbol": ["kernel_name", "display_name"],
                   "info_node": ["hostname", "system_name"], "info_process": ["command"],
                   "info_agent": ["name", "product_name"]}  # fmt: skip
        for table in tables:
            for name in columns.get(table.removeprefix("rocpd_").rpartition("_0000")[0], ()):
                for number, text in enumerate(NAMES):
                    change = f'UPDATE "{table}" SET {name} = ? || id WHERE id % {len(NAMES)} = {number}'  # noqa: S608
                    connection.execute(change, (text,))
        connection.commit()


def test_hostile_messages_and_names(page: Any, jupyterlab: Program) -> None:
    write_hostile_run(jupyterlab.folder / "hostile")
    (jupyterlab.folder / "secret.txt").write_text(SECRET)
    (jupyterlab.folder.parent / "secret.txt").write_text(SECRET)
    run: list[str] = []
    page.on("dialog", lambda dialog: (run.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: run.append(request.url) if "planted" in request.url else None)
    open_notebook(page, jupyterlab, "hostile.ipynb", *CELLS)
    run_all(page)
    output(page, 0).locator(".wavewright table").first.wait_for()
    assert "alert(1)" in output(page, 0).inner_text()  # names are shown
    output(page, 1).frame_locator("iframe").locator("canvas").first.wait_for()
    output(page, 2).locator("iframe").scroll_into_view_if_needed()
    output(page, 2).frame_locator("iframe").locator("canvas").first.wait_for()
    output(page, 4).get_by_text("alive 0 40 42").wait_for()
    model = output(page, 3).inner_text().split()[-1]
    frame = output(page, 2).locator("iframe").element_handle().content_frame()

    for number, message in enumerate(NONSENSE):
        frame.evaluate(f"() => parent.postMessage({message}, '*')")
        assert asked(frame, 10_000 + number, "documents")[0] is False
    for number, path in enumerate(WRONG):
        is_error, text = asked(frame, 20_000 + number, path)
        problem = json.loads(text)["error"]["what"]
        assert is_error and len(text) < 2_000 and "bug" not in problem, (path[:50], problem)
    questions = [question.format(place) for question in READING for place in PLACES]
    for number, path in enumerate(questions):
        text = asked(frame, 30_000 + number, path)[1]
        assert SECRET not in text and "root:x:0" not in text, path
    for number, data in enumerate(COMMS):
        page.evaluate(SEND, [model, data, 0])
        assert asked(frame, 40_000 + number, "documents")[0] is False, data
    page.wait_for_timeout(2_000)  # a script that the widget took over would run a little later
    assert run == []
    for number, (comm, depth) in enumerate((("no such widget", 0), (model, 300), (model, 2_000))):
        page.evaluate(SEND, [comm, {"method": "custom", "content": {}}, depth])
        assert asked(frame, 50_000 + number, "documents")[0] is False, depth

    page.locator(".jp-Notebook .jp-CodeCell").nth(4).locator(".cm-content").click()
    output(page, 4).evaluate("(each) => { each.innerText = ''; }")
    page.keyboard.press("Control+Enter")
    output(page, 4).get_by_text("alive 0 40 42").wait_for()  # the kernel lives, and nothing odd is selected
    assert run == []
    texts = page.locator(".jp-Notebook").inner_text()
    assert "Traceback" not in texts and "Error" not in texts
    frames = page.locator("iframe").evaluate_all("(all) => all.map((each) => each.getAttribute('sandbox'))")
    assert frames == ["allow-scripts"] * 2  # none but ours, and those reach nothing
    page.keyboard.press("Control+s")
    page.wait_for_function("!document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    saved = nbformat.read(jupyterlab.folder / "hostile.ipynb", 4)
    kinds = {each.output_type + each.get("name", "") for cell in saved.cells for each in cell.outputs}
    assert kinds == {"execute_result", "display_data", "streamstdout"} & kinds  # no errors, and nothing on stderr


def asked(frame: Any, number: int, path: str) -> tuple[bool, str]:
    is_error, text = frame.evaluate(ASK, [number, path, 1000 * PATIENCE_S])
    return is_error, text
