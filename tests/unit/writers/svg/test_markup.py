from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.errors import UsageError
from wavewright.writers.svg.markup import Svg, escaped, fitting, text_width

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawing(theme: str = "auto") -> Svg:
    return Svg(200, 100, title="t", light={"ink": "fill:#111"}, dark={"ink": "fill:#eee"}, theme=theme)


@given(st.text())
def test_any_text_is_valid_xml_and_comes_back(text: str) -> None:
    picture = drawing()
    picture.label("ink", 1, 2, text, title=text)
    picture.add("rect", width=text)
    root = ET.fromstring(picture.text())  # noqa: S314 - our own text
    assert escaped(text).count("<") == 0
    found = root.find(f"{NAMESPACE}text")
    assert found is not None
    if text.isprintable() and text.strip() and "\ufffe" not in text and "\uffff" not in text:
        assert "".join(found.itertext()) == text * 2


def test_scripts_in_names_stay_text() -> None:
    picture = drawing()
    picture.label("ink", 0, 0, '</text><script>alert(1)</script>"', title="]]></title><script/>")
    root = ET.fromstring(picture.text())  # noqa: S314
    assert not list(root.iter(f"{NAMESPACE}script"))


def test_themes() -> None:
    assert "prefers-color-scheme:dark" in drawing().text()
    assert "#eee" in drawing("dark").text()
    assert "#eee" not in drawing("light").text()
    assert "@media" not in drawing("dark").text()
    with pytest.raises(UsageError, match="no theme 'pink'"):
        drawing("pink")


@given(st.text(max_size=200), st.floats(20, 300))
def test_cut_texts_fit(text: str, width: float) -> None:
    cut = fitting(text, 12, width)
    assert text_width(cut, 12) <= width or cut == "…"
