"""Every view of the viewer's page on one document, in headless Chromium: seconds until it shows its answer, processor
seconds of the server, the most memory that server (all, and without pages of files) and page held; then whether other
questions wait for a long one, and whether the work of a view ends with it.

Seconds are those of the clock and mean something on an idle machine only; processor seconds do beside others, too.

usage: python -m benchmarks.views [--most-seconds N] [--view ID ...] PATH
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.viewer import get, memory, served
from tests.e2e.browser import FLAGS, browser_path
from tests.e2e.menus import offered_views

SETTLED = """() => document.documentElement.dataset.asking === '0' && !document.querySelector('.waiting')
  && document.querySelector('.dock [data-view]') !== null"""
HEADLINE = "() => document.querySelector('[data-headline] .headline-figure') !== null"
TICKS = os.sysconf("SC_CLK_TCK")
SHORT, LONG = "api/0/glossary", "api/0/declared_answer?name=diagnose"
PATIENCE_MS = 600_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--most-seconds", type=float, default=10.0)
    parser.add_argument("--view", action="append")
    given = parser.parse_args()
    browser_file = browser_path() or sys.exit("views.py needs Chromium (tools/browser.sh)")
    with tempfile.TemporaryDirectory(prefix="wavewright-cache-") as cache, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
        with served(given.path, cache) as (url, server):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE_MS)
            anonymous = Anonymous(server)
            report("headline", lambda: page.goto(url), page, server, given.most_seconds, HEADLINE)
            report("first screen", lambda: None, page, server, given.most_seconds)
            for view in given.view or offered_views(page):
                page.goto("about:blank")
                address = f"{url}#view={view}&layout=t({view};0)"
                report(view, lambda at=address: page.goto(at), page, server, given.most_seconds)
            print(f"server: at most {anonymous.most_bytes / 1e9:.2f} GB that are no pages of files")
        with served(given.path, cache) as (url, server):
            beside_a_long_one(url, server)
        browser.close()


class Anonymous(threading.Thread):
    """The most memory of a process that is no page of a file, looked at ten times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most_bytes = pid, 0
        self.start()

    def run(self) -> None:
        with suppress(OSError):  # it has ended
            while True:
                self.most_bytes = max(self.most_bytes, round(status_gb(self.pid, "RssAnon") * 1e9))
                time.sleep(0.1)


def report(name: str, act: Any, page: Any, server: int, most_seconds: float, shown: str = SETTLED) -> None:
    """A line about what `act` causes, until it is shown; by default until nothing is asked any more."""
    began, spent = time.perf_counter(), processor_seconds(server)
    act()
    page.wait_for_function(shown)
    seconds = time.perf_counter() - began
    spent = processor_seconds(server) - spent
    mark = f"  over {most_seconds:g} s of a processor" if spent > most_seconds else ""
    print(
        f"{seconds:7.2f} s, server {spent:6.2f} s, at most {peak_gb(server):.2f} GB; {memory(page)}  {name}{mark}",
        flush=True,
    )


def beside_a_long_one(url: str, server: int) -> None:
    """Times of short answers while a long question is worked on, and when its work ends once nobody waits for it."""
    get(url + SHORT)
    opener = threading.Thread(target=abandoned, args=(url + LONG, stop := threading.Event()))
    opener.start()
    time.sleep(2)
    times = []
    for _ in range(50):
        began = time.perf_counter()
        get(url + SHORT)
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(0.05)
    state = "at work" if opener.is_alive() else "already answered"
    print(f"short answers, a long one {state}: median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")
    stop.set()
    opener.join()
    time.sleep(1)
    spent = processor_seconds(server)
    time.sleep(2)
    print(f"server, 1 to 3 s after that was closed: {processor_seconds(server) - spent:.2f} s of a processor")


def abandoned(address: str, stop: threading.Event) -> None:
    """Ask, and close the connection when told to."""
    host, _, path = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    connection.request("GET", "/" + path)
    connection.sock.settimeout(0.1)
    while not stop.is_set():
        try:
            if not connection.sock.recv(1 << 16):
                break
        except TimeoutError:
            continue
    connection.close()


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_gb(pid: int) -> float:
    return status_gb(pid, "VmHWM")


def status_gb(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1e6 if found else 0.0


if __name__ == "__main__":
    main()
