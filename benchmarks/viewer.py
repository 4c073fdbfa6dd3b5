"""How fast the viewer is, in headless Chromium that already runs: the first picture, everything, panning and zooming.

Times count from the start of the `wavewright open` command. Run it on an idle machine with a warm file cache; every
figure is the best of REPEATS, with the spread of the repeats beside it. Without ../shared the trace is synthetic.

Script per frame is processor time of the page's own thread, as Chromium traces it: that means something on a loaded
machine, too. --moving PATH measures that alone, on a trace of one's own.

usage: viewer.py [--repeats N] [--instructions N] [--moving PATH] [PATH]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks._analyse import repeated, small_trace
from tests.e2e.browser import FLAGS, browser_path
from wavewright.export.trace.tables import write_parquet
from wavewright.page.assets import page_folder

SHARED = Path(__file__).resolve().parents[2] / "shared"
LARGEST = SHARED / "data" / "uiout-mi350x-flydsl" / "softmax"
TARGETS = {"first picture": 1.5, "everything": 2.5, "everything, opened before": 1.0, "everything, second tab": 1.0}
AMD = "AMD's desktop viewer: one of four SEs after 0.68 s, all of them with hidden latency after 3.1 s, 562 MB"

SCRIPTS = ("FunctionCall", "FireAnimationFrame", "RunMicrotasks", "TimerFire")  #: What Chromium calls running ones.
PICTURE = """() => {
  const facts = document.querySelector('.timeline-facts'); // of the timeline that stands in front
  return facts !== null && Number(facts.dataset.trackCount) > 0 && facts.dataset.drawn === 'true';
}"""
EVERYTHING = """() => document.documentElement.dataset.asking === '0'
  && document.querySelector('[data-view="isa"] .row') !== null && !document.querySelector('.waiting')"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--instructions", type=int, default=10_000_000, help="of the synthetic trace for panning")
    parser.add_argument("--moving", type=Path)
    given = parser.parse_args()
    browser_file = browser_path() or sys.exit("viewer.py needs Chromium (tools/browser.sh)")
    sizes()
    with tempfile.TemporaryDirectory(prefix="wavewright-bench-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
        if given.moving:
            moving(browser, given.moving)
            return
        path = given.path or largest(Path(folder))
        opening(browser, path, given.repeats)
        long = Path(folder) / "long"
        write_parquet(repeated(small_trace(), given.instructions), long)
        moving(browser, long)
        browser.close()


def sizes() -> None:
    for file in sorted(page_folder().iterdir()):
        print(f"{file.name}: {len(gzip.compress(file.read_bytes())) / 1000:.0f} KB gzipped")


def largest(folder: Path) -> Path:
    """The largest real trace, unpacked; without it a synthetic one of the same size."""
    archives = sorted(LARGEST.rglob("*.tar.xz")) if LARGEST.is_dir() else []
    if archives:
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder, filter="data")
        return next(folder.glob("ui_output_*"))
    made = folder / "made"
    write_parquet(repeated(small_trace(), 1_380_000), made)
    return made


@contextmanager
def served(path: Path, cache: str = "") -> Iterator[tuple[str, int]]:
    """The URL and the process of a `wavewright open` that was just started, with a cache folder or without."""
    command = [sys.executable, "-m", "wavewright", "open", str(path), "--no-browser"]
    variables = os.environ | {"WAVEWRIGHT_CACHE": cache, "WAVEWRIGHT_CONFIG": ""}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables
    ) as process:
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "http://" in line)
            found = re.search(r"http://\S+", line)
            assert found is not None
            yield found[0], process.pid
        finally:
            process.terminate()


def opening(browser: Browser, path: Path, repeats: int) -> None:
    print(AMD)
    results: dict[str, list[float]] = {name: [] for name in TARGETS}
    with tempfile.TemporaryDirectory(prefix="wavewright-cache-") as cache:
        for turn in range(repeats + 1):
            first = one_opening(browser, path, "")
            again = one_opening(browser, path, cache)
            if turn:  # the first turn warms the file cache and fills ours
                results["first picture"].append(first["picture"])
                results["everything"].append(first["everything"])
                results["everything, opened before"].append(again["everything"])
                results["everything, second tab"].append(first["reload"])
    for name, seconds in results.items():
        best, spread = min(seconds), max(seconds) / min(seconds) - 1
        ratio = TARGETS[name] / best
        print(f"{name}: {best:.2f} s (repeats within {spread:.0%}), limit {TARGETS[name]} s: {ratio:.1f} times faster")


def one_opening(browser: Browser, path: Path, cache: str) -> dict[str, float]:
    """Seconds from the start of the command to the first picture and to everything, and of a reload."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    began = time.perf_counter()
    with served(path, cache) as (url, _):
        page.goto(url, wait_until="commit")
        page.wait_for_function(PICTURE, polling="raf")
        picture = time.perf_counter() - began
        page.wait_for_function(EVERYTHING, polling="raf")
        everything = time.perf_counter() - began
        time.sleep(1.5)  # answers are kept when nobody asks any more
        print(f"  {memory(page)}; {answers(url)}")
        again = time.perf_counter()
        page.reload(wait_until="commit")
        page.wait_for_function(EVERYTHING, polling="raf")
        reload = time.perf_counter() - again
    context.close()
    return {"picture": picture, "everything": everything, "reload": reload}


def memory(page: Page) -> str:
    """What the page's process holds, without what it shares with other processes."""
    session = page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [int(process["id"]) for process in processes if process["type"] == "renderer"]
    own = [sum(map(int, re.findall(r"^(?:Private_\w+):\s+(\d+)", smaps(pid), re.MULTILINE))) for pid in renderers]
    return f"page memory: {max(own) / 1000:.0f} MB (limit 300 MB)"


def frame_times(events: list[dict[str, Any]]) -> list[float]:
    """Processor milliseconds of all scripts of every frame, in order of size."""
    frames, spent_us, end_us = [], 0, 0
    for event in sorted(events, key=lambda event: int(event.get("ts", 0))):
        if event["name"] in SCRIPTS and "tdur" in event and event["ts"] >= end_us:  # not those inside of others
            spent_us, end_us = spent_us + event["tdur"], event["ts"] + event["dur"]
        elif event["name"] == "AnimationFrame::Render" and event["ph"] == "e":
            frames.append(spent_us / 1000)
            spent_us = 0
    return sorted(frames)


def smaps(pid: int) -> str:
    return Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")


def answers(url: str) -> str:
    """Times of random tiles of every layer, the first of each layer included."""
    layers = json.loads(get(url + "api/0/layers"))["layers"]
    chance = random.Random(7)
    times = []
    for layer in layers:
        for _ in range(40):
            level = chance.randrange(layer["level_count"])
            width = layer["tile_cells"] * layer["cell"] * 2**level
            tiles = max(1, -(-int(layer["end"] - layer["begin"]) // int(width)))
            began = time.perf_counter()
            get(f"{url}api/0/spans?layer={layer['name']}&level={level}&tile={chance.randrange(tiles)}")
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return f"answers for a window: p50 {statistics.median(times):.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms"


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as response:  # noqa: S310 - our own server
        content: bytes = response.read()
    return content


def moving(browser: Browser, path: Path) -> None:
    """Script time per frame while panning and zooming through a long trace."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(600_000)
    with tempfile.TemporaryDirectory(prefix="wavewright-cache-") as cache, served(path, cache) as (url, _):
        page.goto(f"{url}#layout=t(compute_unit;0)")
        page.wait_for_function(PICTURE)
        page.locator(".timeline").first.focus()
        browser.start_tracing(page=page, categories=["devtools.timeline"])
        for key in "w" * 12 + "d" * 20 + "s" * 6 + "a" * 20 + "w" * 12 + "d" * 20 + "0":
            page.keyboard.press(key)
            page.evaluate("() => new Promise(requestAnimationFrame)")
        times = frame_times(json.loads(browser.stop_tracing())["traceEvents"])
        median, p95 = statistics.median(times), times[int(len(times) * 0.95)]
        print(
            f"panning and zooming: {len(times)} frames, script median {median:.1f} ms, p95 {p95:.1f} ms (limit 16 ms)"
        )
        print(f"  {memory(page)}; {answers(url)}")
    context.close()


if __name__ == "__main__":
    main()
