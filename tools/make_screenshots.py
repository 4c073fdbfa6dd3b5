"""Pictures of every view, for people to look at: both themes, a small and a large screen, into screenshots/.

    python tools/make_screenshots.py [--input NAME ...] [--view ID ...] [--small]

The views are those that the page itself offers for a document. Inputs are captures and runs made by us and, where
../shared stands beside the clone, real traces and counter captures.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.browser import FLAGS, browser_path  # noqa: E402
from tests.e2e.counter_captures import made_capture, real_capture  # noqa: E402
from tests.e2e.inputs import made_gemm, marked_gemm, real_trace, sampled  # noqa: E402
from tests.e2e.menus import offered_views  # noqa: E402
from wavewright.model.document import Library  # noqa: E402
from wavewright.page.assets import page_folder  # noqa: E402
from wavewright.readers.opening import open as open_path  # noqa: E402
from wavewright.readers.trace.sources import add_sources  # noqa: E402
from wavewright.server.running_server import RunningServer, listen  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OUT = ROOT / "screenshots"
SIZES = ((1280, 800), (3840, 2160))
THEMES = ("dark", "light")
_PATIENCE_MS = 30_000
_QUIET_MS = 250


def main() -> None:
    """Take the pictures that the command line asks for."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--input", action="append", choices=sorted(INPUTS), help="default: all that are here")
    parser.add_argument("--view", action="append", help="default: all")
    parser.add_argument("--small", action="store_true", help="only 1280x800")
    options = parser.parse_args()
    browser_file = browser_path()
    if browser_file is None:
        sys.exit("there is no Chromium here: tools/browser.sh installs it when root")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
        for name in options.input or INPUTS:
            documents = documents_of(name)
            if documents:
                _take(browser, name, documents, options.view, SIZES[:1] if options.small else SIZES)
        browser.close()


def _take(
    browser: Any, name: str, documents: Sequence[Path], views: Sequence[str] | None, sizes: Sequence[tuple[int, int]]
) -> None:
    library = Library()
    for path in documents:
        library.add(path.name, str(path), partial(opened, path))
    os.environ["WAVEWRIGHT_CONFIG"] = ""  # pictures do not depend on what their maker likes
    serving = RunningServer(library, page_folder(), listen())
    for theme in THEMES:
        for width, height in sizes:
            size = {"width": width, "height": height}
            context = browser.new_context(viewport=size, color_scheme=theme, bypass_csp=True)
            page = context.new_page()
            page.set_default_timeout(_PATIENCE_MS)
            folder = OUT / name / f"{theme}-{width}x{height}"
            folder.mkdir(parents=True, exist_ok=True)
            offered = _views(page, serving.url)
            for view in ["", *(view for view in offered if not views or view in views)]:
                _shoot(page, serving.url, view, folder / f"{view or 'whole-page'}.png")
            context.close()
            print(f"{folder.relative_to(ROOT)}: {len(list(folder.iterdir()))} pictures", flush=True)
    serving.stop()


def _views(page: Any, url: str) -> list[str]:
    """Ids of the views that the page offers for its first document."""
    page.goto(url)
    settle(page)
    return offered_views(page)


def _shoot(page: Any, url: str, view: str, file: Path) -> None:
    """A picture of one view that has the whole page, or of the page as it is at first."""
    page.goto("about:blank")  # an address that differs behind # only would not load the page anew
    page.goto(f"{url}#view={view}&layout=t({view};0)" if view else url)
    settle(page)
    page.screenshot(path=file)


def settle(page: Any) -> None:
    """Wait until nothing is asked any more."""
    page.locator(".dock [data-view]:visible").first.wait_for()
    quiet = f"""() => new Promise((done) => {{
        let since = performance.now();
        const look = () => {{
            const now = performance.now();
            if (document.documentElement.dataset.asking !== "0") since = now;
            if (now - since > {_QUIET_MS} || now > {_PATIENCE_MS}) done();
            else setTimeout(look, 20);
        }};
        look();
    }})"""
    page.evaluate(quiet)


def opened(path: Path) -> Any:
    """A trace with the source beside it, or a run."""
    from wavewright.model.trace import ThreadTrace

    opened = open_path(path)
    if isinstance(opened, ThreadTrace) and (path / "src").is_dir():
        add_sources(opened, path / "src")
    return opened


def documents_of(name: str) -> list[Path]:
    """The paths of an input; none when it is not here."""
    from pytest import skip

    with suppress(skip.Exception):
        return INPUTS[name]()
    print(f"{name}: not here", file=sys.stderr)
    return []


def made_runs() -> list[Path]:
    """Two runs of four ranks on two nodes; the second has a slower kernel."""
    from dataclasses import replace

    from synth.rocpd import write_rocpd_ranks
    from synth.workload import Workload

    before = Workload(dispatches=8000, ranks=4, nodes=2, gpus=2, imbalance=0.12, seed=7)
    scratch = Path(mkdtemp(prefix="wavewright-screenshots-"))
    for name, workload in (("before", before), ("after", replace(before, slow=(("flash_forward", 1.3),)))):
        (scratch / name).mkdir()
        write_rocpd_ranks(scratch / name, workload)
    return [scratch / "before", scratch / "after"]


INPUTS: dict[str, Callable[[], list[Path]]] = {
    "gemm": lambda: [made_gemm("gfx942"), made_gemm("gfx1201")],
    "gemm-rdna": lambda: [made_gemm("gfx1201")],
    "markers": lambda: [marked_gemm()],
    "samples": lambda: [sampled()],
    "run": made_runs,
    "counters": lambda: [made_capture(), made_capture(slower=1.3)],
    "counters-gemm": lambda: [real_capture("pmc-mi300x-bmm")],
    "counters-one-kernel": lambda: [real_capture("pmc-rocprofcompute-vcopy/MI350")],
    "flash-attention": lambda: [real_trace("flash_attn_func", 38430)],
    "softmax": lambda: [real_trace("softmax", 47920)],
    "without-lines": lambda: [real_capture("att-mi300x-bmm/c02")],
    "ranks": lambda: [real_capture("kineto-multirank-2of4")],
}


if __name__ == "__main__":
    main()
