"""Trouble while the page is open: documents of another kind or that cannot be read, a server that sleeps or ends,
traces that are deleted."""

from __future__ import annotations

import os
import shutil
import signal

import pytest
from playwright.sync_api import expect

from tests.cli.serving import running
from tests.e2e.inputs import hostile_run, made_gemm
from tests.e2e.menus import offered_views, open_view
from tests.kit.hostile_documents import damaged_run
from tests.kit.made_decoded import NAME, decoded_files, write_files


@pytest.fixture
def page(fresh_page):
    """Servers that end leave requests behind."""
    return fresh_page


@pytest.mark.slow
def test_one_can_go_from_a_trace_to_a_run_and_back(page, serve):
    page.goto(serve(made_gemm(), hostile_run()).url)
    page.locator('[data-view="isa"]').wait_for()
    page.get_by_label("Document").select_option("1")
    page.locator('[data-view="run_timeline"]').wait_for()
    expect(page.locator('[data-view="isa"]')).to_have_count(0)
    page.get_by_label("Document").select_option("0")
    page.locator('[data-view="isa"]').wait_for()
    expect(page.locator(".problem")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("order", [("trace", "broken"), ("broken", "trace")])
def test_a_document_that_cannot_be_read_leaves_the_others(page, serve, tmp_path, order):
    page.may_fail_to_load = True
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    good, bad = order.index("trace"), order.index("broken")
    page.goto(serve(*({"trace": made_gemm(), "broken": broken}[name] for name in order)).url)
    choice = page.get_by_label("Document")
    choice.wait_for()
    choice.select_option(str(bad))
    page.locator(".shell .problem").wait_for()
    expect(page.locator("[data-view]")).to_have_count(0)
    choice.select_option(str(good))
    page.locator('[data-view="isa"]').wait_for()
    expect(page.locator(".shell .problem")).to_have_count(0)


@pytest.mark.slow
def test_a_server_that_sleeps_is_said_and_the_page_goes_on_when_it_wakes(page):
    with running("open", made_gemm(), "--no-browser") as program:
        page.goto(program.url)
        page.locator('[data-view="isa"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        os.kill(program.process.pid, signal.SIGSTOP)
        try:
            open_view(page, "memory_latency")
            page.locator('[data-banner="long-wait"]').wait_for()
        finally:
            os.kill(program.process.pid, signal.SIGCONT)
        page.locator('[data-banner="long-wait"]').wait_for(state="detached")
        page.wait_for_function("!document.querySelector('[data-view=\"memory_latency\"] .waiting')")
        expect(page.locator(".problem")).to_have_count(0)


@pytest.mark.slow
def test_a_server_that_was_killed_is_said(page):
    page.may_fail_to_load = True
    with running("open", made_gemm(), "--no-browser") as program:
        page.goto(program.url)
        page.locator('[data-view="isa"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        program.process.kill()
        program.process.wait()
        open_view(page, "memory_latency")
        page.locator(".shell .problem").get_by_text("the server does not answer").wait_for()
        note = page.locator('[data-view="memory_latency"] .note.waiting')
        expect(note).to_have_text("Not loaded: the server does not answer.", use_inner_text=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["trace", "run"])
def test_a_document_deleted_while_open_stays_on_screen(page, tmp_path, serve, kind):
    """What is still in memory is shown; what is not is said to be gone."""
    page.may_fail_to_load = True
    if kind == "trace":
        path = write_files(tmp_path / NAME, decoded_files())
    else:
        path = tmp_path / "run.db"
        shutil.copy(damaged_run("no time"), path)
    served = serve(path)
    page.goto(served.url)
    page.locator(".dock [data-view]").first.wait_for()
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    for view in offered_views(page):
        open_view(page, view)
        page.wait_for_function(f"""!document.querySelector('[data-view="{view}"] .waiting')""")
        text = page.locator(f'[data-view="{view}"]').inner_text()
        assert "this is a bug" not in text
        assert text.strip() or page.locator(f'[data-view="{view}"] canvas').count()


def test_what_takes_long_says_so_and_ends_when_cancelled_or_closed(page, serve):
    held, ended = [], []
    page.route("**/api/0/barriers*", lambda route: held.append(route))
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.goto(f"{serve(made_gemm()).url}#layout=t(barriers,summary;0)")
    view = page.locator('[data-view="barriers"]')
    cancel = view.locator('[data-action="cancel"]')
    cancel.wait_for()
    expect(view.get_by_role("status")).to_contain_text("Loading… for")
    cancel.click()
    expect(view.locator("[data-cancelled]")).to_contain_text("Cancelled.")
    page.wait_for_selector('html[data-asking="0"]')
    assert len(ended) == 1, "the server was not told"
    view.get_by_role("button", name="Load it").click()
    view.get_by_text("Loading…").wait_for()
    page.get_by_role("tab", name="Barriers").locator(".lm-TabBar-tabCloseIcon").click()
    page.wait_for_selector('html[data-asking="0"]')
    assert len(ended) == len(held) == 2, "a view that is closed still asks"
