from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.hostile_documents import DAMAGED_RUNS, DAMAGED_TRACES, damaged_run, damaged_trace
from tests.kit.made_decoded import write_decoded
from tests.kit.planted_traffic import PLANTED
from tests.unit.words.plot_checks import bars_by_row, check, document_at, drawn, labels, pixels, root_of
from tools.make_gallery import WITHOUT_DEMO, unpacked
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic
from wavewright.errors import UsageError
from wavewright.questions.catalog import PLOTS, plot_of
from wavewright.words.trace.pictures.traffic import traffic_picture

if TYPE_CHECKING:
    from wavewright.model.document import Document

DRAWINGS = ("roofline", "memory-chart")  #: Not made of the frame that the others share.
_FOLDERS: list[TemporaryDirectory[str]] = []  #: Removed when the tests end.
EVERY = [(kind, name) for kind, plots in PLOTS.items() for name in plots if name not in WITHOUT_DEMO]


@cache
def synthetic(kind: str) -> Path:
    """The run of four ranks of `wavewright demo`, a decoded trace, a capture of counters: all synthetic."""
    _FOLDERS.append(TemporaryDirectory(prefix="wavewright-plots-"))
    folder = Path(_FOLDERS[-1].name)
    if kind == "trace":
        return write_decoded(folder)
    if kind == "counters":
        write_counters(folder, CounterCapture("gfx942", with_channels=False))
    else:
        return unpacked("run", folder)
    return folder


@cache
def opened(kind: str) -> Document:
    """What is synthetic, read once."""
    return document_at(synthetic(kind))


def test_the_names_that_others_rely_on() -> None:
    assert set(PLOTS["run"]) == {"budget", "busy", "gaps", "ranks", "steps", "histogram", "memory"}
    assert set(PLOTS["trace"]) == {"heat", "states", "traffic"}
    assert set(PLOTS["counters"]) == {"roofline", "memory-chart"}
    for plots in PLOTS.values():
        assert all(plot.name == name and plot.title and plot.shows for name, plot in plots.items())
    with pytest.raises(UsageError, match="no plot 'pie' of a run"):
        plot_of("run", "pie")


def test_the_list_costs_nothing() -> None:
    code = (
        "import sys, wavewright.questions.catalog; print([n for n in ('polars', 'rich', 'numpy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_plot_of_synthetic_data(kind: str, name: str) -> None:
    picture = PLOTS[kind][name].draw(opened(kind), "light")
    check(picture, is_framed=name not in DRAWINGS)
    assert picture.name == name
    assert drawn(synthetic(kind), kind, name).svg == picture.svg, "the same bytes twice"


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_no_picture_is_blank(kind: str, name: str) -> None:
    pytest.importorskip("resvg_py")
    for theme in ("light", "dark"):
        shown = pixels(PLOTS[kind][name].draw(opened(kind), theme).svg)
        paper = shown[0]
        assert (sum(paper[:3]) > 600) == (theme == "light")
        different = [pixel for pixel in shown if sum(abs(a - b) for a, b in zip(pixel, paper, strict=True)) > 60]
        assert len(different) > 0.02 * len(shown), theme
        assert len(set(different)) > 8


@pytest.mark.slow
def test_themes() -> None:
    pictures = {theme: PLOTS["run"]["budget"].draw(opened("run"), theme).svg for theme in ("auto", "light", "dark")}
    assert "prefers-color-scheme:dark" in pictures["auto"]
    assert "@media" not in pictures["light"] + pictures["dark"]
    assert "#0d1117" in pictures["dark"]
    with pytest.raises(UsageError, match="no theme 'pink'"):
        PLOTS["run"]["budget"].draw(opened("run"), "pink")


@pytest.mark.slow
def test_the_budget_adds_up_and_is_that_of_the_report() -> None:
    from wavewright.analysis.run.diagnose.budget import budget

    document = opened("run")
    gpus = budget(document.run).gpus.sort("node", "gpu")
    rows = list(bars_by_row(root_of(PLOTS["run"]["budget"].draw(document, "light"))).values())
    assert len(rows) == gpus.height + 1, "all GPUs together, and each"
    columns = {
        "blue": "computation_ns",
        "orange": "exposed_communication_ns",
        "sky": "exposed_copy_ns",
        "pale": "idle_ns",
    }
    whole = sum(width for _, _, width in rows[0])
    for parts, gpu in zip(rows[1:], gpus.to_dicts(), strict=True):
        assert sum(width for _, _, width in parts) == pytest.approx(whole, abs=0.3)
        shares = {colour: width / whole for colour, _, width in parts}
        for colour, column in columns.items():
            assert shares.get(colour, 0.0) == pytest.approx(gpu[column] / gpu["window_ns"], abs=0.0012), column
    words = [text for text, _ in labels(root_of(PLOTS["run"]["budget"].draw(document, "light")))]
    assert "share of the time (%)" in words
    stated = [
        float(part.split()[-2]) for part in words[1].rstrip(".").replace(" and ", ", ").split(": ")[1].split(", ")
    ]
    assert sum(stated) == pytest.approx(100.0, abs=1e-6)


@pytest.mark.slow
def test_bars_are_as_long_as_their_values() -> None:
    from wavewright.analysis.run.gpu_time.gaps import gaps

    document = opened("run")
    causes = gaps(document.run).causes.select("cause", "wait_ns").group_by("cause").sum()["wait_ns"]
    values = sorted((value for value in causes if value), reverse=True)
    rows = bars_by_row(root_of(PLOTS["run"]["gaps"].draw(document, "light")))
    widths = [sum(width for _, _, width in rows[y]) for y in sorted(rows)]
    expected = [value / values[0] * widths[0] for value in values]
    assert widths == pytest.approx([width for width in expected if width >= 0.05], abs=0.02)


@pytest.mark.slow
def test_top_cuts_loudly() -> None:
    picture = PLOTS["run"]["histogram"].draw(opened("run"), "light", 2)
    assert any("howing 2 of " in text for text, _ in labels(root_of(picture)))
    few = PLOTS["run"]["budget"].draw(opened("run"), "light", 2)
    assert len(bars_by_row(root_of(few))) == 3
    assert "howing 2 of 4 GPUs" in few.svg
    with pytest.raises(UsageError, match="0 rows"):
        PLOTS["run"]["budget"].draw(opened("run"), "light", 0)


@pytest.mark.slow
def test_many_ranks_are_columns(tmp_path: Path) -> None:
    write_rocpd_ranks(tmp_path, Workload(dispatches=164, ranks=41, seed=2))
    document = document_at(tmp_path)
    for name in ("ranks", "busy"):
        picture = PLOTS["run"][name].draw(document)
        root = check(picture)
        assert len(picture.svg) < 60_000, name
        if name == "ranks":
            assert not bars_by_row(root)
            assert "rank" in [text for text, _ in labels(root)]


def test_what_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    write_rocpd_ranks(tmp_path, Workload(dispatches=8, ranks=1, seed=1))
    with pytest.raises(UsageError, match="one process"):
        drawn(tmp_path, "run", "ranks")
    with pytest.raises(UsageError, match="is a run, not a thread trace"):
        drawn(tmp_path, "trace", "heat")


def _heavy(damage: str) -> object:
    """Those that take seconds for their size alone run with the slow tests."""
    return pytest.param(damage, marks=pytest.mark.slow) if damage in ("much code", "long names") else damage


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("damage", [*map(_heavy, DAMAGED_TRACES)])
def test_hostile_traces(damage: str) -> None:
    _draw_all("trace", damaged_trace(damage))


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*map(_heavy, DAMAGED_RUNS)])
def test_hostile_runs(damage: str) -> None:
    _draw_all("run", damaged_run(damage))


def _draw_all(kind: str, path: Path) -> None:
    document = document_at(path)
    for plot in PLOTS[kind].values():
        try:
            picture = plot.draw(document)
        except UsageError as error:
            assert error.what
            continue
        check(picture)
        assert len(picture.svg) < 60_000, plot.name
        assert len(picture.alt) < 2_000


REAL = {
    "run": ("kineto-multirank-2of4", "kineto-amd", "rpd", "gfx1151-rocprofv3-llama", "rocprofv3-json-mi350x",
            "xplane-mi300x", "rocprofv1-mi300a-hiptrace"),
    "trace": ("att-mi300x-bmm", "uiout-mi350x-flydsl", "pcsampling-rcv", "gfx1201-counters-pcsampling"),
    "counters": ("pmc-mi300x-bmm", "rocprofcompute-analysisdb"),
}  # fmt: skip


BIG = ("kineto-multirank-2of4", "kineto-amd", "rpd")


@pytest.mark.some_cases(3)
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        pytest.param(kind, data, marks=[pytest.mark.slow] * (data in BIG))
        for kind, names in REAL.items()
        for data in names
    ],
)
def test_real_captures(shared: Path, kind: str, data: str) -> None:
    document = document_at(shared / "data" / data)
    drawn_names = []
    for name, plot in PLOTS[kind].items():
        try:
            picture = plot.draw(document)
        except UsageError as error:
            assert error.what
            continue
        drawn_names.append(name)
        check(picture, is_framed=name not in DRAWINGS)
    least = {"run": 4, "trace": 1, "counters": 2}
    assert len(drawn_names) >= least[kind], drawn_names


def test_the_picture_of_traffic_has_every_workgroup(tmp_path: Path) -> None:
    kernel = PLANTED[2]
    answer = fabric_traffic(kernel.trace("gfx942", tmp_path), TrafficOptions(kernel.lanes))
    picture = traffic_picture(answer, "light")
    check(picture, is_framed=False)
    assert answer.workgroups.height == kernel.workgroups
    assert len(list(root_of(picture).iter("{http://www.w3.org/2000/svg}rect"))) >= kernel.workgroups
