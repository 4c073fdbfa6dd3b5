from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.counter_capture import CounterCapture, write_counters
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.memory_chart import MemoryChart, memory_chart, one_table
from wavewright.errors import UsageError
from wavewright.readers.counters import open_counters
from wavewright.words.counters.memory_chart.canvas import chart_canvas
from wavewright.words.counters.memory_chart.chart_lines import headline, number, scaled, subject
from wavewright.words.counters.memory_chart.svg import memory_chart_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> MemoryChart:
    folder = tmp_path_factory.mktemp("capture")
    write_counters(folder, CounterCapture("gfx90a"))
    return memory_chart(open_counters(folder), choice=CounterChoice(kernels=("0",)))


@given(st.floats(min_value=1e-3, max_value=1e15))
def test_scaled_numbers_keep_three_digits_and_few_characters(value: float) -> None:
    text = scaled(value)
    size, _, letter = text.partition(" ")
    read = float(size) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[letter]
    assert read == pytest.approx(value, rel=0.006) or abs(read - value) <= 5e-4
    assert len(text) <= 8


def test_numbers_say_their_unit() -> None:
    assert number(None, "%") == "?"
    assert number(0.0, "%") == "0 %"
    assert number(0.001, "%") == "<0.1 %"
    assert number(12.0, "GB/s") == "12 GB/s"
    assert number(0.0, "GB/s") == "0 B/s"


@pytest.mark.parametrize("width", [60, 80, 100, 119, 120, 150, 200])
def test_every_width_is_kept_and_every_block_is_shown(chart: MemoryChart, width: int) -> None:
    lines = [line.text for line in chart_canvas(chart, width).lines()]
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for title in chart.blocks["title"]:
        assert title in text
    hit = chart.values.filter((chart.values["block"] == "l2") & (chart.values["label"] == "hit rate"))["value"][0]
    assert number(hit, "%") in text
    assert number(chart.wires["value"][1], "Req") in text


def test_long_and_hostile_names_do_not_break_the_lines(chart: MemoryChart) -> None:
    strange = replace(chart, kernel_names=("void k<" + "x" * 500 + "\x1b[2J>",))
    assert len(subject(strange, width=100)) <= 100
    assert "\x1b" not in subject(strange)
    assert "\x1b" not in memory_chart_svg(strange)


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_the_picture_is_xml_whose_cards_do_not_overlap(chart: MemoryChart, theme: str) -> None:
    root = ET.fromstring(memory_chart_svg(chart, theme=theme))  # noqa: S314 - our own text
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    cards = [
        [float(card.attrib[name]) for name in ("x", "y", "width", "height")]
        for card in root.iter(f"{SVG}rect")
        if card.attrib["class"].startswith("card")
    ]
    assert len(cards) == chart.blocks.height - 2  # three sections of the CUs share a card
    for x, y, across, down in cards:
        assert x >= 0
        assert y >= 0
        assert x + across <= width
        assert y + down <= height
    for one, two in itertools.combinations(cards, 2):
        apart_x = one[0] + one[2] <= two[0] or two[0] + two[2] <= one[0]
        apart_y = one[1] + one[3] <= two[1] or two[1] + two[3] <= one[1]
        assert apart_x or apart_y
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert set(chart.blocks["title"]) <= texts
    assert headline(chart) in texts


def test_unknown_themes_are_refused(chart: MemoryChart) -> None:
    with pytest.raises(UsageError):
        memory_chart_svg(chart, theme="pink")


def test_partial_captures_are_drawn_with_gaps(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942"))
    for file in tmp_path.rglob("*.csv"):
        if file.name.startswith("SQ_"):
            file.unlink()
    chart = memory_chart(open_counters(tmp_path))
    lines = [line.text for line in chart_canvas(chart, 120).lines()]
    assert any("?" in line for line in lines)
    ET.fromstring(memory_chart_svg(chart))  # noqa: S314 - our own text


def test_values_and_wires_share_a_table(chart: MemoryChart) -> None:
    table = one_table(chart)
    assert table.height == chart.values.height + chart.wires.height
    assert table.columns[:3] == ["block", "label", "value"]
    assert "l2 to fabric" in set(table["block"])
