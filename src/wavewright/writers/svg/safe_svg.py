"""Pictures inside a page: only what draws, with ids and style rules that concern the picture alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from wavewright.writers.svg.markup import escaped

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_TAG_WORDS = (
    "svg g defs title desc style rect line polyline polygon path circle ellipse text tspan "
    "clipPath mask linearGradient radialGradient stop marker pattern"
)
#: Attributes that draw. None of them can run or load anything: `href` and `on...` are not among them.
_ATTRIBUTE_WORDS = (
    "class clip-path clip-rule clipPathUnits cx cy d direction dominant-baseline dx dy fill fill-opacity fill-rule "
    "font-family font-size font-style font-variant font-weight fx fy gradientTransform gradientUnits height id "
    "letter-spacing marker-end marker-mid marker-start markerHeight markerUnits markerWidth mask mask-type maskUnits "
    "offset opacity orient paint-order patternTransform patternUnits points preserveAspectRatio r refX refY rotate rx "
    "ry shape-rendering spreadMethod stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap "
    "stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style text-anchor text-decoration text-rendering "
    "textLength transform vector-effect viewBox visibility width word-spacing x x1 x2 xml:space y y1 y2"
)
_TAGS, _ATTRIBUTES = frozenset(_TAG_WORDS.split()), frozenset(_ATTRIBUTE_WORDS.split())
_LOCAL = re.compile(r"url\(\s*['\"]?#([\w.-]+)['\"]?\s*\)")
#: What loads something, or hides that it does: other addresses, imports, escapes of CSS.
_LOADING = re.compile(r"url|image|@import|@font|expression|src\s*\(|//|\\|:\s*javascript", re.IGNORECASE)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_MEDIA = re.compile(r"@media\s*(?:screen and )?(\([\w\s:-]+\))\s*\{((?:[^{}]*\{[^{}]*\})*)\s*\}")


def inline_svg(svg: str, scope: str, alt: str) -> str:
    """The picture as an element of HTML; empty = it is not a picture.

    `scope` is a word that no other picture of the page has: class of the element, and prefix of the ids in it; `alt`
    says what the picture shows.
    """
    if "<!" in svg.replace("<!--", ""):  # entities and declarations: ours have none
        return ""
    try:
        root = ET.fromstring(svg)  # noqa: S314 (declarations were refused above)
    except ET.ParseError:
        return ""
    if root.tag != _NAMESPACE + "svg":
        return ""
    root.set("class", f"{scope} {root.get('class', '')}".strip())
    return _element(root, scope, f' role="img" aria-label="{escaped(alt)}"')


def _element(element: ET.Element, scope: str, extra_attributes: str = "") -> str:
    tag = element.tag.removeprefix(_NAMESPACE) if isinstance(element.tag, str) else ""
    if tag not in _TAGS:
        return ""
    if tag == "style":
        return f"<style>{escaped(_scoped(element.text or '', scope))}</style>"
    attributes = "".join(_attribute(name, value, scope) for name, value in element.items()) + extra_attributes
    inner = [escaped(_flat(element.text))]
    for child in element:
        inner += [_element(child, scope), escaped(_flat(child.tail))]
    return f"<{tag}{attributes}>{''.join(inner)}</{tag}>"


def _flat(text: str | None) -> str:
    return " ".join(text.split("\n")) if text and text.strip() else ""


def _attribute(name: str, value: str, scope: str) -> str:
    if name not in _ATTRIBUTES:
        return ""
    value = value.replace("\n", " ")
    if name == "id":
        value = f"{scope}-{value}"
    elif name != "class" and _LOADING.search(_LOCAL.sub("", value)):
        return ""
    else:
        value = _LOCAL.sub(lambda match: f"url(#{scope}-{match[1]})", value)
    return f' {name}="{escaped(value)}"'


def _scoped(rules: str, scope: str) -> str:
    """Rules for the elements of this picture only; those that load something are left out."""
    rules = re.sub(r"/\*.*?\*/", "", " ".join(rules.split()))
    # on paper, pictures are light whatever the screen is
    media = "".join(f"@media screen and {query}{{{_plain(inner, scope)}}}" for query, inner in _MEDIA.findall(rules))
    return _plain(_MEDIA.sub("", rules), scope) + media


def _plain(rules: str, scope: str) -> str:
    written = []
    for selectors, body in _RULE.findall(rules):
        if "@" in selectors or _LOADING.search(_LOCAL.sub("", body)) or not selectors.strip():
            continue
        names = ",".join(
            f".{scope}" if selector.strip() in ("svg", ":root") else f".{scope} {selector.strip()}"
            for selector in selectors.split(",")
        )
        body = _LOCAL.sub(lambda match: f"url(#{scope}-{match[1]})", body)
        written.append(f"{names}{{{body.strip()}}}")
    return "".join(written)
