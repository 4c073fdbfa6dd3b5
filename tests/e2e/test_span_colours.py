"""What spans of the Compute unit look like: kind, state or stall class, the stalled part, the legend, arrows."""

from __future__ import annotations

import json

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.test_timelines import LOW, Tracks, address, first_slot, rows_before
from tests.e2e.waiting import settled
from wavewright.analysis.trace.stalls import stalls
from wavewright.model.schema import CATEGORIES, CATEGORY_MEANINGS

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]

#: Colours of the dark theme: draw/palette.ts.
EMPTY = (0x30, 0x35, 0x3D)
ISSUED = (0x66, 0x71, 0x84)
DARK = {
    "SMEM": (0xE3, 0xD5, 0x4A), "SALU": (0x8F, 0xDC, 0x9A), "VMEM": (0xF0, 0xA9, 0x3B), "FLAT": (0x62, 0xC3, 0xEE),
    "LDS": (0xF0, 0x70, 0x3A), "VALU": (0x2F, 0xAE, 0x54), "IMMED": (0x8A, 0x93, 0xA3), "MESSAGE": (0xD9, 0xB3, 0x8C),
    "EXEC": (0x2F, 0xAE, 0x54), "WAIT": (0xE3, 0xD5, 0x4A), "STALL": (0xE5, 0x48, 0x4D),
}  # fmt: skip
PALER = 0.64

PIXELS = """([x, y, wide, tall]) => {
  const canvas = document.querySelector('.timeline canvas');
  const scale = canvas.width / canvas.clientWidth;
  const box = [x, y, wide, tall].map(n => Math.max(1, Math.round(n * scale)));
  return [...canvas.getContext('2d').getImageData(...box).data];
}"""


#: How many pixels have each of some colours, nearly.
COUNTED = f"""([box, colours]) => {{
  const data = ({PIXELS})(box);
  return colours.map(colour => {{
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += colour.every((part, at) => Math.abs(part - data[i + at]) <= 4);
    return n;
  }});
}}"""


def colours_at(tracks, x, y, wide=1, tall=1):
    """Colours of pixels of the page, row by row."""
    left, top = x - tracks.box["x"], y - tracks.box["y"]
    data = tracks.page.evaluate(PIXELS, [left, top, wide, tall])
    return [tuple(data[i : i + 3]) for i in range(0, len(data), 4)]


def pale(colour):
    return tuple(round(a + (b - a) * PALER) for a, b in zip(colour, EMPTY, strict=True))


def is_near(a, b, by=4):
    return all(abs(x - y) <= by for x, y in zip(a, b, strict=True))


def stalled_instruction(trace, wave):
    """One of the first slot that stalls and then issues, both for long enough to have pixels."""
    table = trace.instructions.with_row_index("item").slice(wave["first_instruction"], wave["instruction_count"])
    names = pl.col("category").replace_strict(CATEGORIES, return_dtype=pl.String)
    matrix = trace.code.filter(pl.col("text").str.contains(r"^v_s?(mfma|wmma)"))["row"]
    fitting = table.with_columns(name=names, issue=pl.col("duration_cycles") - pl.col("stall_cycles")).filter(
        pl.col("stall_cycles") >= 8, pl.col("issue") >= 4, pl.col("name").is_in(list(DARK)),
        pl.col("time_cycles").is_unique(), ~pl.col("row").is_in(matrix.implode()), pl.col("stall_cycles") < 400,
    )  # fmt: skip
    return fitting.sort(pl.col("issue"), descending=True).row(0, named=True)


def zoomed(page, serve, made):
    """The timeline around one stalled instruction, with rows tall enough; where that stands."""
    served = serve(made())
    trace = served.library.document(0).trace
    waves, offset = first_slot(trace)
    wave = waves.row(0, named=True)
    row = stalled_instruction(trace, wave)
    begin = row["time_cycles"] + offset
    end = begin + row["duration_cycles"]
    page.set_viewport_size({"width": 1280, "height": 3000})
    tracks = Tracks(page, served, "compute_unit", (begin - 20, end + 20))
    settled(page)
    return tracks, row, begin, tracks.y(rows_before(served, wave["se"]), 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_the_stalled_part_of_a_span_is_paler(page, serve, made):
    tracks, row, begin, y = zoomed(page, serve, made)
    full = DARK[row["name"]]
    stalled = begin + row["stall_cycles"] / 2
    issued = begin + row["stall_cycles"] + row["issue"] / 2
    expect(tracks.facts_of).to_have_attribute("data-drawn", "true")
    assert is_near(colours_at(tracks, tracks.x(issued), y)[0], full)
    assert is_near(colours_at(tracks, tracks.x(stalled), y)[0], pale(full))


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_a_class_of_stall_has_the_colour_that_its_legend_says(page, serve, made):
    tracks, row, begin, y = zoomed(page, serve, made)
    trace = tracks.page.evaluate("location.href") and serve(made()).library.document(0).trace
    tracks.view.locator("[data-colour-by]").select_option("class")
    tracks.view.locator(".kind-legend [data-kind='0']").wait_for()
    settled(page)
    answer = stalls(trace)
    listed = answer.classes.filter(pl.col("stall_cycles_total") > 0)
    tracks.view.get_by_role("button", name="Legend").click()
    entries = tracks.view.locator(".legend-list > div")
    entries.first.wait_for()
    names = [entry.locator("dt").inner_text() for entry in entries.all()]
    assert names[: listed.height] == listed["class"].to_list()
    first = entries.first.locator("dd").inner_text()
    assert first.startswith(f"{listed['stall_cycles_total'][0]:,} stall cycles")
    # only one class of this row: the colour of the stalled part is its own
    classes = answer.by_row.filter(pl.col("row") == row["row"], pl.col("stall_cycles_total") > 0)["class"].to_list()
    swatches = {
        entry.locator("dt").inner_text(): entry.locator("i").evaluate("i => getComputedStyle(i).backgroundColor")
        for entry in entries.all()
    }
    page.keyboard.press("Escape")
    expect(tracks.view.locator(".legend-list")).to_have_count(0)
    seen = colours_at(tracks, tracks.x(begin + row["stall_cycles"] / 2), y)[0]
    assert f"rgb({seen[0]}, {seen[1]}, {seen[2]})" in [swatches[name] for name in classes]
    assert is_near(colours_at(tracks, tracks.x(begin + row["stall_cycles"] + row["issue"] / 2), y)[0], ISSUED)
    page.reload()
    expect(tracks.view.locator("[data-colour-by]")).to_have_value("class")  # it stays chosen


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_states_are_the_colour_of_tracks(page, serve, made):
    tracks, row, begin, y = zoomed(page, serve, made)
    trace = serve(made()).library.document(0).trace
    waves, offset = first_slot(trace)
    wave = waves.row(0, named=True)
    tracks.view.locator("[data-colour-by]").select_option("state")
    settled(page)
    table = trace.states.slice(wave["first_state"], wave["state_count"])
    end = table["duration_cycles"].cum_sum() + wave["start_cycles"] + offset
    at = begin + row["stall_cycles"] / 2
    state = table["state"][int((end <= at).sum())]
    name = {1: "IDLE", 2: "EXEC", 3: "WAIT", 4: "STALL"}[state]
    assert name in DARK
    assert is_near(colours_at(tracks, tracks.x(at), y)[0], DARK[name])
    shown = tracks.view.locator(".kind-legend .kinds button").all_inner_texts()
    names = {1: "IDLE", 2: "EXEC", 3: "WAIT", 4: "STALL"}
    assert shown == [names[state] for state in sorted(trace.states["state"].unique())]


@pytest.mark.slow
def test_far_out_the_share_of_stall_is_pale(page, serve):
    served = serve(real_trace("softmax", 47920))
    tracks = Tracks(page, served, "compute_unit")
    settled(page)
    expect(tracks.facts_of).to_have_attribute("data-drawn", "true")
    trace = served.library.document(0).trace
    stall, latency = trace.instructions["stall_cycles"].sum(), trace.instructions["duration_cycles"].sum()
    assert stall / latency > 0.6  # a trace that mostly stalls
    top = tracks.y(0, 0)
    wide, tall = tracks.box["width"] - tracks.fact("gutter") - 40, tracks.fact("row-height") * 8
    box = [tracks.fact("gutter") + 10, top - tracks.box["y"], wide, tall]
    full, paler = page.evaluate(COUNTED, [box, [DARK["VMEM"], pale(DARK["VMEM"])]])
    of_memory = trace.instructions.filter(pl.col("category") == 3)
    share = of_memory["stall_cycles"].sum() / of_memory["duration_cycles"].sum()
    assert share > 0.9
    assert paler > 1000
    assert full < paler * 0.15, "a memory instruction that stalls must not look like a busy pipe"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 1600])
def test_the_strip_of_states_is_there_with_many_slots(page, serve, width):
    page.set_viewport_size({"width": width, "height": 800 if width == 1280 else 1000})
    served = serve(real_trace("softmax", 47920))
    tracks = Tracks(page, served, "compute_unit")
    settled(page)
    height = tracks.fact("row-height")
    assert height <= 8, "many slots: thin rows"
    top = tracks.y(0, 0)
    column = [
        colours_at(tracks, tracks.box["x"] + tracks.fact("gutter") + at, top, 1, height) for at in range(40, 240, 10)
    ]
    states = [DARK[name] for name in ("EXEC", "WAIT", "STALL")]
    # the last pixels of a row, above the gap, wherever a wave is
    strips = [pixels[-3:-1] for pixels in column if pixels[0] != (0, 0, 0)]
    coloured = [strip for strip in strips if len(set(strip)) == 1 and strip[0] in states]
    assert len(coloured) > 10
    assert len(coloured) >= 0.8 * len(strips)  # the others hit the gap between two long states


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_the_legend_has_what_occurs_and_lights_it_up(page, serve, made):
    tracks, row, begin, y = zoomed(page, serve, made)
    trace = serve(made()).library.document(0).trace
    present = {CATEGORIES[number] for number in trace.instructions["category"].unique()}
    page.set_viewport_size({"width": 2200, "height": 900})
    buttons = tracks.view.locator(".kind-legend .kinds button")
    shown = buttons.all_inner_texts()
    assert set(shown) - {"MATRIX"} == present
    for name in ("IMMED", "VALU"):
        hint = buttons.get_by_text(name, exact=True).get_attribute("title")
        assert CATEGORY_MEANINGS[name] in hint
    page.set_viewport_size(LOW)
    settled(page)
    at = tracks.x(begin + row["stall_cycles"] + row["issue"] / 2)
    assert is_near(colours_at(tracks, at, y)[0], DARK[row["name"]])
    other = tracks.view.locator(".kind-legend .kinds button").filter(has_not_text=row["name"]).first
    other.click()
    expect(other).to_have_attribute("aria-pressed", "true")
    settled(page)
    faded = tuple(round(a + (b - a) * 0.82) for a, b in zip(DARK[row["name"]], EMPTY, strict=True))
    assert is_near(colours_at(tracks, at, y)[0], faded)
    other.click()
    settled(page)
    assert is_near(colours_at(tracks, at, y)[0], DARK[row["name"]])


def awaited(trace):
    """A wait of the first slot with one to four producers, the n-th of its row, and the first of the producers."""
    waves, offset = first_slot(trace)
    wave = waves.row(0, named=True)
    waits = trace.waits.filter(pl.col("wave") == wave["wave"])
    groups = waits.group_by("instruction", maintain_order=True).agg(pl.len(), "producer", pl.col("row").first())
    for wait in groups.filter(pl.col("len").is_between(1, 4)).iter_rows(named=True):
        time = trace.instructions["time_cycles"]
        if time[wait["instruction"]] - time[min(wait["producer"])] > 60:
            return wave, offset, wait
    raise AssertionError("no wait with a far producer")


def numbered(trace, wave, item):
    """Which execution of its row in the wave an instruction is."""
    rows = trace.instructions["row"]
    return int((rows.slice(wave["first_instruction"], item - wave["first_instruction"]) == rows[item]).sum())


@pytest.mark.parametrize("made", INPUTS)
def test_arrows_lead_from_a_wait_to_what_it_waited_for(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    wave, offset, wait = awaited(trace)
    table = trace.instructions
    producers = sorted(wait["producer"])
    issue = [table["time_cycles"][p] + table["stall_cycles"][p] + offset for p in producers]
    time = table["time_cycles"][wait["instruction"]] + offset
    chosen = f"&row={wait['row']}&wave={wave['wave']}&iteration={numbered(trace, wave, wait['instruction'])}"
    tracks = Tracks(page, served, "compute_unit", (issue[0] - 100, f"{time + 100}{chosen}"))
    expect(tracks.view.locator("[data-links]")).to_have_attribute("data-links", str(len(producers)))
    settled(page)
    # the top canvas has the colour of arrows where the producer was issued, on the upper or lower edge of its track
    row = rows_before(served, wave["se"])
    height = tracks.fact("row-height")
    edge = tracks.y(row, 0) + (0 if row * height > 42 else main_height(height))
    magenta = (0xFF, 0x7A, 0xE0)
    pixels = tracks.page.evaluate(
        PIXELS.replace(".timeline canvas", ".timeline-top canvas"),
        [tracks.x(issue[0]) - tracks.box["x"] - 2, edge - tracks.box["y"] - 2, 4, 4],
    )
    assert magenta in [tuple(pixels[i : i + 3]) for i in range(0, len(pixels), 4)]
    page.mouse.click(tracks.x(issue[0]), edge)
    producer_row = int(table["row"][producers[0]])
    page.wait_for_function(
        "row => new URLSearchParams(location.hash.slice(1)).get('row') === String(row)", arg=producer_row
    )
    assert int(address(page)["iteration"]) == numbered(trace, wave, producers[0])
    # from the load back to its wait
    expect(tracks.view.get_by_text("Awaited by (1)")).to_be_visible()


def main_height(height):
    """Height of the instructions in a row: without the strip of states and the gap."""
    fixed = min(4, max(2, int(height * 0.4)))
    return height - (1 if height >= 6 else 0) - fixed


@pytest.mark.slow
def test_an_arrow_leaves_at_the_edge_and_goes_there(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    wave, offset, wait = awaited(trace)
    table = trace.instructions
    time = table["time_cycles"][wait["instruction"]] + offset
    chosen = f"&row={wait['row']}&wave={wave['wave']}&iteration={numbered(trace, wave, wait['instruction'])}"
    tracks = Tracks(page, served, "compute_unit", (time - 15, f"{time + 200}{chosen}"))
    expect(tracks.view.locator("[data-links]")).to_have_attribute("data-links", str(len(wait["producer"])))
    settled(page)
    row = rows_before(served, wave["se"])
    height = tracks.fact("row-height")
    is_up = row * height > 42
    y = tracks.y(row, 0) - 16 if is_up else tracks.y(row, 0) + main_height(height) + 16
    page.mouse.click(tracks.box["x"] + tracks.fact("gutter") + 12, y)
    rows = {int(table["row"][producer]) for producer in wait["producer"]}
    page.wait_for_function(
        "rows => rows.includes(Number(new URLSearchParams(location.hash.slice(1)).get('row')))", arg=sorted(rows)
    )
    nearest = max(table["time_cycles"][p] + table["stall_cycles"][p] + offset for p in wait["producer"])
    assert tracks.fact("begin") <= nearest <= tracks.fact("end")


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_the_tooltip_says_what_was_waited_for_and_the_line(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    wave, offset, wait = awaited(trace)
    table = trace.instructions
    time, stall = (table[name][wait["instruction"]] for name in ("time_cycles", "stall_cycles"))
    length = max(stall, table["duration_cycles"][wait["instruction"]])
    tracks = Tracks(page, served, "compute_unit", (time + offset - 30, time + offset + length + 30))
    y = tracks.y(rows_before(served, wave["se"]), 0.2)
    found = tracks.read(time + offset + length / 2, y)
    assert found["item"] == wait["instruction"]
    nearest = max(wait["producer"])
    distance = time - table["time_cycles"][nearest] - table["stall_cycles"][nearest]
    code = trace.code.filter(pl.col("row") == table["row"][nearest]).row(0, named=True)
    line = f"waited for row {code['row']}: {code['text']}, {distance:,} cycles ago"
    tracks.tooltip.get_by_text(line, exact=True).wait_for()
    at = trace.code.filter(pl.col("row") == wait["row"]).row(0, named=True)
    if at["file"]:
        tracks.tooltip.get_by_text(f"{at['file'].split('/')[-1]}:{at['line']}", exact=True).wait_for()
    assert json.dumps(found)
