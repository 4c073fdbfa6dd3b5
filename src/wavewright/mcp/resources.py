"""Resources: the guide, the words, the definitions, the schema of answers."""

from __future__ import annotations

import json
from typing import Any

from wavewright.mcp.declared import ANSWER_SCHEMA, TOOLS
from wavewright.mcp.texts import GUIDE

_MARKDOWN = "text/markdown"
_GUIDE, _GLOSSARY, _SCHEMA = "wavewright://guide", "wavewright://glossary", "wavewright://schema/answer"
_DEFINITIONS = "wavewright://definitions/"
TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": f"{_DEFINITIONS}{{topic}}",
        "name": "definitions",
        "description": "How the numbers of a topic are made, and what its columns mean.",
        "mimeType": _MARKDOWN,
    }
]


def listed() -> list[dict[str, Any]]:
    """All resources, as the protocol lists them."""
    return [
        {"uri": _GUIDE, "name": "guide", "description": "Which tool for which question.", "mimeType": _MARKDOWN},
        {"uri": _GLOSSARY, "name": "glossary", "description": "Words and handles.", "mimeType": _MARKDOWN},
        {
            "uri": _SCHEMA,
            "name": "answer schema",
            "description": "Every answer.",
            "mimeType": "application/schema+json",
        },
    ]


def read(uri: str) -> dict[str, Any]:
    """The content of a resource.

    Raises
    ------
    LookupError
        When there is none.

    Examples
    --------
    >>> read("wavewright://guide")["mimeType"]
    'text/markdown'
    """
    if uri == _GUIDE:
        return {"uri": uri, "mimeType": _MARKDOWN, "text": GUIDE}
    if uri == _GLOSSARY:
        from wavewright.mcp.definitions import glossary

        return {"uri": uri, "mimeType": _MARKDOWN, "text": glossary()}
    if uri == _SCHEMA:
        return {"uri": uri, "mimeType": "application/schema+json", "text": json.dumps(ANSWER_SCHEMA, indent=1)}
    topic = uri.removeprefix(_DEFINITIONS)
    names = dict.fromkeys(name for tool in TOOLS for name in tool.topic_names)
    if not uri.startswith(_DEFINITIONS) or topic not in {*names, "about"}:
        places = ", ".join(resource["uri"] for resource in listed())
        raise LookupError(
            f"there is no resource {uri[:80]!r}; there are {places}, {_DEFINITIONS}TOPIC ({', '.join(names)})"
        )
    from wavewright.mcp.definitions import definition

    return {"uri": uri, "mimeType": _MARKDOWN, "text": definition(topic)}
