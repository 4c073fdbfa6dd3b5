"""Reports in a real browser, with the network cut: nothing is asked for, everything can be read."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from tests.unit.export.report.made_reports import report_named
from wavewright.export.report import write_report

#: Tables, texts and figures that are wider than their place.
CUT = """[...document.querySelectorAll('.table, pre, figure')]
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))"""
#: Texts with a contrast below 4.5 (WCAG AA) to what is painted below them; pictures and hidden words are not asked.
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((n) => top[n] * top[3] + below[n] * (1 - top[3])).concat(1);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, n) => {
    const part = c[n] / 255; return sum + weight * (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const worst = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, .hidden, .skip, .anchor")) continue;
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(getComputedStyle(each));
    let ground = [255, 255, 255, 1];
    for (const style of chain) {
      ground = over(colour(style.backgroundColor), ground);
      const bar = /linear-gradient\\(to right, (rgb[^)]*\\)|color\\([^)]*\\)|#\\w+)/.exec(style.backgroundImage);
      if (bar) ground = over(colour(bar[1]), ground);
    }
    const ink = over(colour(getComputedStyle(element).color), ground);
    const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) worst.push([walker.currentNode.data.trim().slice(0, 40), ratio]);
  }
  return worst;
}"""


@pytest.fixture(params=["small", "run", "trace", "hostile"])
def written(request, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_report(report_named(request.param), path)
    return path


def _opened(browser, path: Path, **how):
    """The page in a context without network; its requests and what it complains about."""
    context = browser.new_context(offline=True, **how)
    page = context.new_page()
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_asks_for_nothing_and_can_be_read(browser, written, scheme):
    page = _opened(browser, written, color_scheme=scheme)
    assert page.asked == [written.as_uri()]
    assert page.complaints == []
    assert page.locator("script, iframe, object, embed, img, link").count() == 0
    handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(n => n.startsWith('on'))"
    assert page.evaluate(handlers) == []
    assert page.evaluate(CONTRAST) == []
    page.context.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_fits_into_the_window(browser, written, width):
    page = _opened(browser, written, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


@pytest.mark.slow
def test_paper(browser, written):
    """What is printed is light, is no wider than the paper, and has all sections."""
    page = _opened(browser, written, color_scheme="dark", viewport={"width": 700, "height": 900})
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(CUT) == []
    leaves = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages
    text = "".join(leaf.extract_text() for leaf in leaves)
    for heading in page.locator("h2").all_inner_texts():
        first = heading.split()[0] if heading.split() else ""
        assert first[:20] in text
    page.context.close()


def test_links_mark_their_rows(browser, tmp_path: Path):
    path = tmp_path / "report.html"
    write_report(report_named("small"), path)
    page = _opened(browser, path)
    page.goto(f"{path.as_uri()}#summary.t1.r2")
    assert page.locator("tr:target").inner_text().split() == ["25.0", "%", "copy"]
    page.context.close()
