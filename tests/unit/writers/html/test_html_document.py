"""Reports as pages: no script, nothing to load, and no recorded word that gets out of its place."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from tests.kit.together import together
from tests.unit.export.report.made_reports import ALL_REPORTS, HOSTILE, report_named, small_report
from wavewright.base.shown import printable
from wavewright.writers.html import report_page as html

VOID = {"meta", "br"}
#: All elements that the page is made of, those of pictures last.
_TAGS = (
    "html head meta title style body a header h1 dl div dt dd p aside b ul li nav ol main section h2 h3 article span "
    "code table caption thead tbody tr th td figure figcaption pre footer br svg desc rect g text tspan line polyline "
    "polygon path circle defs"
)
_ATTRIBUTES = (
    "lang charset http-equiv content name class href id title aria-label aria-labelledby role tabindex scope style "
    "width height viewbox font-family x y x1 x2 y1 y2 cx cy r rx d points fill font-size text-anchor transform stroke "
    "stroke-width opacity stroke-dasharray fill-opacity font-weight dominant-baseline"
)
TAGS, ATTRIBUTES = set(_TAGS.split()), set(_ATTRIBUTES.split())


class Page(HTMLParser):
    """Elements, ids, links and text as a browser finds them."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.headings: list[str] = []
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "title"} & set(self.open[-1:]):
            self.texts.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_pages_are_made_of_our_elements_only(name):
    content = html.render(report_named(name))
    page = Page(content)
    assert content == html.render(report_named(name))
    assert page.open == []
    assert set(page.tags) <= TAGS
    assert {attribute for _, attribute, _ in page.attributes} <= ATTRIBUTES
    styles = page.values("style")
    assert not [style for style in styles if not re.fullmatch(r"--(share:[\d.e+-]+%|heat:[\d.]+)", style)]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_links_lead_to_places_of_the_page(name):
    page = Page(html.render(report_named(name)))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[\w.-]+", each) for each in ids)
    assert {link for link in page.values("href") if link[1:] not in ids or link[0] != "#"} == set()
    sections = [value for tag, name, value in page.attributes if (tag, name) == ("section", "id")]
    assert len(sections) >= len(report_named(name).sections) + 1
    assert {f"#{section}" for section in sections} <= set(page.values("href"))


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_headings_are_in_order(name):
    headings = Page(html.render(report_named(name))).headings
    assert headings.count("h1") == 1
    assert headings[0] == "h1"
    assert all(int(after[1]) <= int(before[1]) + 1 for before, after in pairwise(headings))


@pytest.mark.slow
@together("word", HOSTILE)
def test_words_are_shown_as_they_are(word):
    text = "".join(Page(html.render(report_named("hostile"))).texts)
    for line in word.split("\n"):
        assert printable(" ".join(line.split())).replace("\ufffe", "\ufffd") in text


def test_policy_and_language():
    content = html.render(small_report()).decode()
    assert content.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert f'<meta http-equiv="Content-Security-Policy" content="{html.POLICY}">' in content
    assert "default-src 'none'" in html.POLICY
    assert "script" not in html.POLICY
    assert content.index("Content-Security-Policy") < content.index("<style>")


def test_blocks_of_each_kind():
    content = html.render(small_report()).decode()
    for part in (
        '<p class="headline">busy 92.0 %</p>', "<code>wavewright gaps</code> tells why",
        '<b class="label">note</b> a short sample', '<span class="gain">at most 6.9 %</span>', "<dd>a<br>b</dd>",
        '<td class="number share" style="--share:100.0%">75.0 %</td>', '<tr id="summary.t1.r1">', 'id="summary.f1"',
        '<caption>2 kernels</caption>', '<th scope="col" class="number">share</th>', 'style="--heat:0.500"',
        '.bar{fill:#123456}', 'role="img" aria-label="half of it"><title>bars</title>',
        "<figcaption>half of it</figcaption>",
        "<code>wavewright gaps my.db --time 0:5</code>", '<b class="label">not answered</b> one rank',
        "<td>Sums.</td>", "1 packet lost",
    ):  # fmt: skip
        assert part in content, part
    assert "▁▂▃" not in content  # the section has a picture
