"""The README's pictures of the viewer, from a capture and runs that we make: into docs/images/viewer-*.png.

    python tools/make_viewer_pictures.py

Needs the page (`make page`), Chromium, and pngquant (Debian's package), which makes the pictures small.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from synth import write_counters  # noqa: E402
from tests.e2e.browser import FLAGS, browser_path  # noqa: E402
from tests.e2e.inputs import made_gemm  # noqa: E402
from tools.make_screenshots import made_runs, opened, settle  # noqa: E402
from wavewright.model.document import Library  # noqa: E402
from wavewright.page.assets import page_folder  # noqa: E402
from wavewright.server.running_server import RunningServer, listen  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

OUT = ROOT / "docs" / "images"
SIZE = {"width": 1600, "height": 1000}
MOST_BYTES = 250_000
_COLOURS = 128
_NO_HINTS = "localStorage.setItem('wavewright.settings', JSON.stringify({knowsPage: true}))"


def main() -> None:
    """Take the pictures and make them small."""
    from playwright.sync_api import sync_playwright

    browser_file = browser_path()
    pngquant = shutil.which("pngquant")
    if browser_file is None or pngquant is None:
        sys.exit("needs Chromium (tools/browser.sh) and pngquant (apt-get install pngquant)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
        trace = _served([made_gemm("gfx942")])
        _trace(_page(browser, "dark"), trace.url)
        _diagnosis(_page(browser, "light"), trace.url)
        trace.stop()
        run = _served(made_runs())
        _run(_page(browser, "dark"), run.url)
        run.stop()
        with TemporaryDirectory(prefix="wavewright-pictures-") as scratch:
            counters = _served([write_counters(Path(scratch) / "kernels").folder])
            _counters(_page(browser, "light"), counters.url)
            counters.stop()
        browser.close()
    for picture in sorted(OUT.glob("viewer-*.png")):
        subprocess.run([pngquant, "--force", "--ext", ".png", "--strip", str(_COLOURS), str(picture)], check=True)
        size = picture.stat().st_size
        print(f"{picture.relative_to(ROOT)}: {size:,} bytes")
        if size > MOST_BYTES:
            sys.exit(f"{picture.name} is larger than {MOST_BYTES:,} bytes")


def _trace(page: Any, url: str) -> None:
    """A trace as it opens, after a click on the hottest line and a zoom to the first waves."""
    page.goto(f"{url}#time=3000~21000&view=explorer")
    settle(page)
    page.locator(".explorer .headline button").click()
    settle(page)
    page.screenshot(path=OUT / "viewer-trace.png")


def _diagnosis(page: Any, url: str) -> None:
    """Show what to change first, and a click on its first instruction: where it stands in code and source."""
    page.goto(f"{url}#layout=r(0.5:t(diagnosis;0),0.5:c(0.5:t(source;0),0.5:t(isa;0)))")
    settle(page)
    page.locator('[data-view="diagnosis"] button:has-text("s_waitcnt")').first.click()
    page.mouse.move(0, 0)
    settle(page)
    page.screenshot(path=OUT / "viewer-diagnosis.png")


def _run(page: Any, url: str) -> None:
    """Some iterations of a run: what was launched from where."""
    page.goto(f"{url}#time=9700000~11700000")
    settle(page)
    page.screenshot(path=OUT / "viewer-run.png")


def _counters(page: Any, url: str) -> None:
    """Three kernels under their roofs, how near each unit is to its limit, and what flows between caches and memory."""
    page.goto(
        f"{url}#layout=r(0.42:c(0.45:t(counter_diagnosis;0),0.55:t(speed_of_light;0)),0.58:c(0.48:t(roofline;0),0.52:t(memory_chart;0)))"
    )
    settle(page)
    page.screenshot(path=OUT / "viewer-counters.png")


def _page(browser: Any, theme: str) -> Any:
    context = browser.new_context(viewport=SIZE, color_scheme=theme, bypass_csp=True)
    context.add_init_script(_NO_HINTS)
    return context.new_page()


def _served(paths: Sequence[Path]) -> RunningServer:
    library = Library()
    for path in paths:
        library.add(path.name, str(path), partial(opened, path))
    os.environ["WAVEWRIGHT_CONFIG"] = ""  # pictures do not depend on what their maker likes
    return RunningServer(library, page_folder(), listen())


if __name__ == "__main__":
    main()
