"""Blocks as HTML: alignment, bars, heat, names of places."""

from __future__ import annotations

import re

from tests.kit.together import together
from wavewright.model.blocks import Code, CodeLine, Column, Finding, Preformatted, Sentence, Table
from wavewright.writers.html.blocks import block_styles, html_of

SHARES = Column("share", role="number")


def _bars(*cells: str) -> list[str]:
    return re.findall(r"--share:([\d.]+)%", html_of([Table("", (SHARES,), tuple((cell,) for cell in cells))]))


def test_bars_are_as_long_as_their_shares():
    assert _bars("50.0 %", "25.0 %", "0.0 %", "-") == ["100.0", "50.0", "0.0"]


@together(
    "cells", [("50.0 %", "3 ms"), ("120 %", "3.0 %"), ("-", ""), ("0.0 %", "0.0 %"), ("-5.0 %", "5.0 %"), ("50.0 %",)]
)
def test_columns_with_other_values_have_no_bars(cells):
    assert _bars(*cells) == []


def test_long_headings_may_be_broken():
    heads = html_of([Table("", (Column("x" * 21, role="number"), Column("two words")), ())])
    assert f'<th scope="col" class="number long">{"x" * 21}</th><th scope="col">two words</th>' in heads


def test_places_have_different_names():
    table = Table("", (SHARES,), (("1",), ("2",)))
    finding = Finding(1, "a", "", handle="f1")
    fragment = html_of([table, finding, finding, table], anchor="gaps")
    assert re.findall(r' id="([^"]+)"', fragment) == [
        "gaps.t1", "gaps.t1.r1", "gaps.t1.r2", "gaps.f1", "gaps.f1.2", "gaps.t2", "gaps.t2.r1", "gaps.t2.r2",
    ]  # fmt: skip
    assert " id=" not in html_of([table, finding])


def test_heat_is_relative_to_the_hottest_line():
    lines = (CodeLine(1, "\tx", 0.2), CodeLine(2, "y", 0.1, "9K"), CodeLine(3, "z"), CodeLine(None, ""))
    fragment = html_of([Code("a.py", lines)])
    assert re.findall(r"--heat:([\d.]+)", fragment) == ["1.000", "0.500"]
    assert '<td class="cost">20.0 %</td><td class="place">1</td><td><code>    x</code></td>' in fragment
    assert '<td class="cost">9K</td>' in fragment
    assert fragment.count("⋮") == 1


def test_full_names_show_when_the_pointer_rests():
    table = Table("", (Column("name", is_name=True),), (("a…b",), ("c",)))
    fragment = html_of([table], full_names={"a…b": 'a"x"b'})
    assert '<code title="a&quot;x&quot;b">a…b</code>' in fragment
    assert "<code>c</code>" in fragment


def test_charts_stay_where_there_is_no_picture():
    assert '<pre class="chart" tabindex="0">▁▂</pre>' in html_of([Preformatted("▁▂", is_chart=True)])
    assert '<pre class="text" tabindex="0">a  b\n&lt;c</pre>' in html_of([Preformatted("a  b\n<c")])


def test_styles_other_than_ours_are_notes():
    assert html_of([Sentence("x", 'a"b')]) == '<p class="note"><b class="label">a&quot;b</b> x</p>'


def test_styles_concern_the_fragments_alone():
    """A notebook has other elements: no rule may reach them."""
    rules = re.sub(r"/\*.*?\*/", "", block_styles(), flags=re.DOTALL)
    rules = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", rules)
    selectors = [each.strip() for head in re.findall(r"([^{}]+)\{", rules) for each in head.split(",")]
    assert len(selectors) > 40
    assert [selector for selector in selectors if not selector.startswith(".wavewright")] == []
