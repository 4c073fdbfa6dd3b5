"""What stands in front when a document is opened for the first time: it fits what is in it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from synth import Scenario, Workload, compiled, synthesize, write_capture, write_rocpd_ranks
from tests.e2e.counter_captures import few_counters, made_capture
from tests.e2e.inputs import empty_trace, made_gemm, sampled
from tests.e2e.waiting import eventually
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.analysis.counters.choice import ranked_kernels

SEEN = """() => [...document.querySelectorAll('.dock > .panel')]
    .filter((panel) => panel.checkVisibility()).map((panel) => panel.dataset.view).sort()"""


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-e2e-"))


@cache
def _without_lines() -> Path:
    files = dict(decoded_files())
    code = json.loads(files["code.json"])
    for row in code["code"]:
        row[3] = ""
    return write_files(_scratch() / "lines" / NAME, files | {"code.json": json.dumps(code).encode()})


@cache
def _one_wave() -> Path:
    return write_files(_scratch() / "wave" / NAME, decoded_files(waves=1))


@cache
def _many_waves() -> Path:
    folder = _scratch() / "waves"
    kernels = (compiled("saxpy", "gfx942"),)
    scenario = Scenario(kernels=kernels, shader_engines=4, workgroups=64, waves_per_workgroup=4, waves_per_simd=8)
    write_capture(synthesize(scenario), folder)
    return folder


@cache
def _ranks() -> Path:
    folder = _scratch() / "ranks"
    write_rocpd_ranks(folder, Workload(dispatches=640, ranks=64, nodes=8, gpus=8, seed=5))
    return folder


@cache
def _without_times() -> Path:
    """Passes of rocprofv3 whose rows have no times."""
    folder = _scratch() / "times"
    folder.mkdir()
    for file in few_counters().rglob("*.csv"):
        header, *lines = file.read_text().splitlines()
        names = [name.strip('"') for name in header.split(",")]
        left = [n for n, name in enumerate(names) if "Timestamp" not in name]
        rows = [",".join(line.split(",")[n] for n in left) for line in (header, *lines)]
        (folder / file.name).write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "views"),
    [
        (_without_lines, ["compute_unit", "diagnosis", "isa", "stalls"]),
        (made_gemm, ["compute_unit", "diagnosis", "isa", "source"]),
        (_one_wave, ["compute_unit", "diagnosis", "isa", "source"]),
        (_many_waves, ["diagnosis", "global_view", "isa", "source"]),
        (empty_trace, ["diagnosis"]),
        (sampled, ["explorer", "isa", "source", "stalls"]),
        (_ranks, ["kernels", "ranks", "run_diagnosis"]),
        (_without_times, ["counter_diagnosis", "counter_kernels", "memory_chart", "speed_of_light"]),
        (made_capture, ["counter_diagnosis", "counter_kernels", "roofline", "speed_of_light"]),
    ],
    ids=["no-lines", "lines", "one-wave", "many-waves", "empty", "samples", "ranks", "no-times", "counters"],
)
def test_the_first_screen_fits_the_document(page, serve, document, views):
    page.goto(serve(document()).url)
    page.locator(".dock [data-view]").first.wait_for()
    eventually(lambda: page.evaluate(SEEN), views)


@pytest.mark.slow
def test_counters_of_several_kernels_open_on_the_longest(page, serve):
    expect = pytest.importorskip("playwright.sync_api").expect
    served = serve(made_capture())
    page.goto(served.url)
    chooser = page.locator('[data-view="speed_of_light"] select[aria-label="Kernel"]')
    expect(chooser).to_have_value("0")
    chosen = page.locator('[data-view="counter_kernels"] .row.selected')
    longest = ranked_kernels(served.library.document(0).counters.dispatches)["kernel_name"][0]
    expect(chosen.locator('[data-column="kernel_name"]')).to_have_text(longest)
    chooser.select_option("")
    expect(chosen).to_have_count(0)
    page.reload()  # what was chosen stays chosen
    page.locator('[data-view="speed_of_light"] .sol-row').first.wait_for()
    expect(chooser).to_have_value("")


@pytest.mark.slow
def test_what_the_user_arranged_comes_back_for_documents_of_that_kind_only(page, serve):
    page.goto(serve(_without_lines(), made_gemm()).url + "#document=0")
    compared = ["compare", "diagnosis", "isa", "source"]  # two documents are compared
    eventually(lambda: page.evaluate(SEEN), compared)
    page.locator(".lm-TabBar-tab").filter(has_text="Explorer").click()
    arranged = ["compare", "explorer", "isa", "source"]
    eventually(lambda: page.evaluate(SEEN), arranged)
    page.get_by_label("Document").select_option("1")
    eventually(lambda: page.evaluate(SEEN), compared)
    page.get_by_label("Document").select_option("0")
    eventually(lambda: page.evaluate(SEEN), arranged)
