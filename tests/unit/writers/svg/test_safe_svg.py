"""Pictures inside pages: what draws stays, what runs or loads does not."""

from __future__ import annotations

from tests.kit.together import together
from wavewright.writers.svg.safe_svg import inline_svg

SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'


def _drawn(inner: str) -> str:
    return inline_svg(SVG.format(inner), "p", "what it shows")


@together(
    "inner",
    [
        "<script>alert(1)</script>",
        '<image href="http://evil.example/x.png"/>',
        '<use href="#x"/>',
        '<a href="javascript:alert(1)"><text>x</text></a>',
        "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><img src='x'/></body></foreignObject>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
        "<!-- a comment --><?php 1 ?>",
    ],
)
def test_other_elements_are_left_out(inner):
    assert _drawn(inner) == '<svg class="p" role="img" aria-label="what it shows"></svg>'


@together(
    "attribute",
    [
        'onclick="alert(1)"',
        'href="http://evil.example"',
        'xlink:href="x" xmlns:xlink="http://www.w3.org/1999/xlink"',
        'fill="url(http://evil.example/#a)"',
        'fill="url(//evil.example)"',
        'style="background:url(http://evil.example)"',
        'style="background:\\75rl(x)"',
        'style="background:image-set(x)"',
    ],
)
def test_other_attributes_are_left_out(attribute):
    assert "<rect></rect>" in _drawn(f"<rect {attribute}/>")


@together(
    "rules",
    [
        "@import url(//evil.example);",
        "@font-face{font-family:x;src:url(//evil.example)}",
        ".a{background:url(http://evil.example)}",
        ".a{background:\\75rl(x)}",
        ".a{fill:red}} .b{fill:blue",
    ],
)
def test_rules_that_load_or_break_out_are_left_out(rules):
    style = _drawn(f"<style>{rules}</style>").split("<style>")[1].split("</style>")[0]
    assert style in ("", ".p .a{fill:red}")


def test_rules_concern_the_picture_alone():
    rules = ".a, .b{fill:red} svg{font-size:9px} @media (prefers-color-scheme:dark){.a{fill:blue}.b{fill:#111}}"
    assert (
        "<style>.p .a,.p .b{fill:red}.p{font-size:9px}"
        "@media screen and (prefers-color-scheme:dark){.p .a{fill:blue}.p .b{fill:#111}}</style>"
    ) in _drawn(f"<style>{rules}</style>")


def test_ids_concern_the_picture_alone():
    drawn = _drawn('<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)"/><g fill="url(\'#c\')"/>')
    assert 'id="p-c"' in drawn
    assert drawn.count("url(#p-c)") == 2


@together(
    "svg",
    [
        "no picture",
        "<svg>without namespace</svg>",
        "<p xmlns='http://www.w3.org/2000/svg'/>",
        '<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("<text>&a;</text>"),
        SVG.format("<text>"),
        SVG.format("\x00"),
    ],
)
def test_what_is_no_picture_gives_nothing(svg):
    assert inline_svg(svg, "p", "") == ""


def test_words_stay_words():
    drawn = _drawn('<text x="1">a &lt;b&gt; &amp; "c"<tspan>d</tspan> e</text>')
    assert '<text x="1">a &lt;b&gt; &amp; &quot;c&quot;<tspan>d</tspan> e</text>' in drawn
    assert inline_svg(SVG.format(""), "p", '"><script>').count("<script") == 0
