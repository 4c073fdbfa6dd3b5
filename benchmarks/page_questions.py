"""Processor time and memory of everything that the viewer's page asks about a thread trace, question by question.

One process opens the trace as the server does and keeps what it made; the peak is that of the process during each
question. --apart opens the trace anew for each question, in a process of its own: what a view costs that comes first.

usage: python -m benchmarks.page_questions [--most-seconds N] [--apart] [--only NAME ...] PATH
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks._measure import resident_bytes
from wavewright.errors import WavewrightError
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about
from wavewright.readers.opening import open as open_path

MOST_GB = 2.0
#: Parameters of questions that need some.
GIVEN = {
    "declared_answer": {"name": "states"},
    "wave": {"wave": "1"},
    "wave_costs": {"wave": "1"},
    "wave_loops": {"wave": "1"},
    "wave_waits": {"wave": "1"},
    "stalled_shares": {"level": "0", "tile": "0"},
    "instruction": {"item": "1"},
    "event": {"item": "1"},
}
LEFT_OUT = ("compare", "compare_units", "lane_service", "resident_wave", "marker", "shader_value", "source")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--most-seconds", type=float, default=10.0)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    if given.apart:
        for name in given.only or [name for name in questions_about("trace") if name not in LEFT_OUT]:
            limit = ["--most-seconds", str(given.most_seconds)]
            subprocess.run([sys.executable, "-m", __spec__.name, str(given.path), *limit, "--only", name], check=False)
        return
    library = Library()
    library.add(given.path.name, str(given.path), partial(open_path, given.path))
    document = library.document(0)
    began = time.process_time()
    height = document.trace.instructions.height
    report(f"open, {height:,} instructions", time.process_time() - began, given.most_seconds)
    for name, texts in asked(document, given.only):
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        began = time.process_time()
        try:
            size = f", {len(ask(document, name, texts).content):,} bytes"
        except WavewrightError as error:
            size = f": {error}"
        label = " ".join([name, *(f"{key}={value}" for key, value in texts.items())])
        report(label + size, time.process_time() - began, given.most_seconds)


def report(label: str, seconds: float, most_seconds: float) -> None:
    peak = resident_bytes("VmHWM") / 1e9
    excess = [f"over {most_seconds:g} s"] * (seconds > most_seconds) + [f"over {MOST_GB:g} GB"] * (peak > MOST_GB)
    print(f"{seconds:7.2f} s {peak:6.2f} GB  {label[:110]}  {', '.join(excess)}".rstrip(), flush=True)


def asked(document: Document, only: list[str] | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The questions with their parameters; the first tiles of all layers and curves, costs of a part of the time."""
    for name in only or questions_about("trace"):
        if name == "spans":
            for layer in json.loads(ask(document, "layers", {}).content)["layers"]:
                last = str(layer["level_count"] - 1)
                yield from ((name, {"layer": layer["name"], "level": level, "tile": "0"}) for level in ("0", last))
        elif name == "kinds":
            yield name, {"layer": "instructions"}
        elif name in ("curves", "area"):
            tiling = json.loads(ask(document, "curve_names", {}).content)
            if name == "area":
                yield name, {"start": str(tiling["begin"]), "stop": str(tiling["begin"] + 100_000)}
                continue
            names = dict.fromkeys(("pipes", "busy_pipes", *(entry["name"] for entry in tiling["curves"])))
            last = str(tiling["level_count"] - 1)
            yield from ((name, {"name": of, "level": last, "tile": "0"}) for of in names)
        elif name not in LEFT_OUT or only:
            yield name, GIVEN.get(name, {})
    if not only:
        begin = json.loads(ask(document, "curve_names", {}).content)["begin"]
        yield "costs", {"begin": str(begin), "end": str(begin + 100_000)}


if __name__ == "__main__":
    main()
