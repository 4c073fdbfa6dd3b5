"""Pictures of the reading loop, for people to look at: five steps through a trace, a run and a counter capture.

    python tools/make_walk.py [--input NAME ...] [--width PIXELS ...]

Both themes and three sizes, into screenshots/walk/. Every step is what a user does next: a click, a key, a tab.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.browser import FLAGS, browser_path  # noqa: E402
from tools.make_screenshots import THEMES, documents_of, opened, settle  # noqa: E402
from wavewright.model.document import Library  # noqa: E402
from wavewright.page.assets import page_folder  # noqa: E402
from wavewright.server.running_server import RunningServer, listen  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Step = tuple[str, Callable[[Any], None]]

OUT = ROOT / "screenshots" / "walk"
SIZES = {1280: 800, 1600: 1000, 2560: 1440}


def _look(_: Any) -> None:
    """Leave the page as it is at first."""


def _click(place: str) -> Callable[[Any], None]:
    def click(page: Any) -> None:
        page.locator(place).first.click()

    return click


def _tab(title: str) -> Callable[[Any], None]:
    def open_it(page: Any) -> None:
        page.locator('[data-opens="Views"]').click()
        page.locator(f'[data-popup="Views"] .entry:has-text("{title}")').first.click()

    return open_it


def _keys(keys: str) -> Callable[[Any], None]:
    def press(page: Any) -> None:
        for key in keys:
            page.keyboard.press(key)

    return press


def _zoomed(page: Any) -> None:
    _tab("Compute unit")(page)
    _keys("wwwwww")(page)


_WITH_LINES: tuple[Step, ...] = (
    ("1-first-screen", _look),
    ("2-hottest-line", _click('[data-view="explorer"] .row.line')),
    ("3-utilization", _tab("Utilization")),
    ("4-compute-unit", _zoomed),
    ("5-hottest-instruction", _keys("3h")),
)
_WITHOUT_LINES: tuple[Step, ...] = (
    ("1-first-screen", _look),
    ("2-finding", _click('[data-view="diagnosis"] .finding .link, [data-view="diagnosis"] .link')),
    ("3-utilization", _tab("Utilization")),
    ("4-compute-unit", _zoomed),
    ("5-hottest-instruction", _keys("3h")),
)
_RUN: tuple[Step, ...] = (
    ("1-first-screen", _look),
    ("2-kernel", _click('[data-view="kernels"] .row:not(.head)')),
    ("3-path", _tab("Critical path")),
    ("4-busy", _tab("Busy")),
    ("5-timeline", _keys("1ww")),
)
_COUNTERS: tuple[Step, ...] = (
    ("1-first-screen", _look),
    ("2-kernel", _click('[data-view="counter_kernels"] .row:not(.head)')),
    ("3-diagnosis", _tab("Diagnosis")),
    ("4-memory-chart", _tab("Memory chart")),
    ("5-panels", _tab("Panels")),
)
WALKS: dict[str, tuple[Step, ...]] = {
    "flash-attention": _WITH_LINES,
    "gemm": _WITH_LINES,
    "without-lines": _WITHOUT_LINES,
    "run": _RUN,
    "ranks": _RUN,
    "counters": _COUNTERS,
    "counters-gemm": _COUNTERS,
}


def main() -> None:
    """Take the walks that the command line asks for."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--input", action="append", choices=sorted(WALKS), help="default: all that are here")
    parser.add_argument("--width", action="append", type=int, choices=sorted(SIZES), help="default: all")
    options = parser.parse_args()
    browser_file = browser_path()
    if browser_file is None:
        sys.exit("there is no Chromium here: tools/browser.sh installs it when root")
    os.environ["WAVEWRIGHT_CONFIG"] = ""  # pictures do not depend on what their maker likes
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
        for name in options.input or WALKS:
            documents = documents_of(name)[:1]
            if documents:
                _walk(browser, name, documents[0], options.width or list(SIZES))
        browser.close()


def _walk(browser: Any, name: str, path: Path, widths: Sequence[int]) -> None:
    library = Library()
    library.add(path.name, str(path), partial(opened, path))
    serving = RunningServer(library, page_folder(), listen())
    for theme in THEMES:
        for width in widths:
            size = {"width": width, "height": SIZES[width]}
            context = browser.new_context(viewport=size, color_scheme=theme, bypass_csp=True)
            page = context.new_page()
            folder = OUT / name / f"{theme}-{width}"
            folder.mkdir(parents=True, exist_ok=True)
            page.goto(serving.url)
            for step, act in WALKS[name]:
                settle(page)
                act(page)
                settle(page)
                page.screenshot(path=folder / f"{step}.png")
            context.close()
            print(f"{folder.relative_to(ROOT)}: {len(WALKS[name])} pictures", flush=True)
    serving.stop()


if __name__ == "__main__":
    main()
