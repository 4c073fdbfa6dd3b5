"""Write docs/gallery.md and its pictures, docs/images/plot-*.svg: every plot of the demo's synthetic data.

    python tools/make_gallery.py [--check]

`--check` compares instead, and says what is stale.
"""

from __future__ import annotations

import sys
import tarfile
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.questions.catalog import PLOTS
from wavewright.readers.opening import open as open_path

if TYPE_CHECKING:
    from wavewright.model.counters import CounterSet
    from wavewright.model.run import Run

DOCS = Path(__file__).resolve().parent.parent / "docs"
MOST_BYTES = 60_000  #: Of a picture.


class Demo(NamedTuple):
    """Input of one kind that `wavewright demo` makes."""

    archive: str
    member: str  #: Folder in the archive.
    what: str
    command: str  #: How a user gets it.
    path: str  #: And where it is then.


DEMOS = {
    "run": Demo(
        "runs", "runs/before", "A run of four ranks on two nodes", "wavewright demo --run --keep demo", "demo/before"
    ),
    "trace": Demo(
        "traces",
        "gfx942/tiled_gemm",
        "A thread trace of a matrix multiplication",
        "wavewright demo --keep demo",
        "demo",
    ),
    "counters": Demo(
        "counters",
        "counters/before",
        "Hardware counters of three kernels",
        "wavewright demo --counters --keep demo",
        "demo/before",
    ),
}


def unpacked(kind: str, folder: Path) -> Path:
    """The demo's input of a kind, below a folder."""
    archive, member = DEMOS[kind].archive, DEMOS[kind].member
    with as_file(files("wavewright.cli.demo_data") / f"{archive}.tar.xz") as path, tarfile.open(path) as tar:
        for entry in tar.getmembers():
            if entry.isfile() and entry.name.startswith(f"{member}/"):
                target = folder / entry.name
                target.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(entry)
                target.write_bytes(content.read() if content else b"")
    return folder / member


def gallery(folder: Path) -> dict[Path, str]:
    """Every file of the gallery; a folder for what is unpacked."""
    written: dict[Path, str] = {}
    lines = [
        "# Gallery",
        "",
        "<!-- made by tools/make_gallery.py from the declared questions -->",
        "",
        (
            "Every plot that `wavewright plot` draws, of the synthetic data of `wavewright demo`. They follow the "
            "light or dark preference of the browser; names and numbers are shown where the pointer rests. "
            "[How to draw one](how-to/draw-a-plot.md)."
        ),
    ]
    for kind, demo in DEMOS.items():
        place = unpacked(kind, folder)
        document = Document(0, "demo", str(place), partial(_opened, place))
        lines += ["", f"## {demo.what}", "", "```console", f"$ {demo.command}", "```"]
        for plot in PLOTS[kind].values():
            if plot.name in WITHOUT_DEMO:
                continue
            picture = plot.draw(document)
            file = DOCS / "images" / f"plot-{plot.name}.svg"
            written[file] = picture.svg
            alt = picture.alt.replace("[", "(").replace("]", ")").replace("\n", " ")
            lines += ["", f"### {plot.name}", "", f"{plot.title}: {plot.shows}.", ""]
            lines += ["```console", f"$ wavewright plot {demo.path} {plot.name} -o {plot.name}.svg", "```", ""]
            lines += [f"![{alt}](images/{file.name})"]
    return {DOCS / "gallery.md": "\n".join([*lines, ""]), **written}


#: Plots that need what the data of the demo do not record: the grid and the arguments of the kernel.
WITHOUT_DEMO = ("traffic",)


def _opened(place: Path) -> ThreadTrace | Run | CounterSet:
    opened = open_path(place)
    if isinstance(opened, ThreadTrace):
        from wavewright.readers.trace.sources import add_sources_beside

        add_sources_beside(opened, place)
    return opened


def main(arguments: list[str]) -> int:
    """Write the files, or compare; 1 = something is stale, or too large."""
    with TemporaryDirectory() as scratch:
        pages = gallery(Path(scratch))
    large = [file.name for file, text in pages.items() if file.suffix == ".svg" and len(text.encode()) > MOST_BYTES]
    leftovers = [file for file in (DOCS / "images").glob("plot-*.svg") if file not in pages]  # of plots gone
    if "--check" in arguments:
        stale = [file.name for file, text in pages.items() if not file.is_file() or file.read_text("utf-8") != text]
        stale += [file.name for file in leftovers]
    else:
        stale = []
        for file in leftovers:
            file.unlink()
        for file, text in pages.items():
            file.write_text(text, "utf-8")
    for name in large:
        print(f"{name} has more than {MOST_BYTES:,} bytes", file=sys.stderr)
    for name in stale:
        print(f"{name} is stale", file=sys.stderr)
    return 1 if stale or large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
