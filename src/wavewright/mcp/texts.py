"""The server's instructions, prompts and resources, from `texts.toml` and the files beside it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from wavewright.model.answer import Answer

_HERE = Path(__file__).parent
_TEXTS: dict[str, Any] = tomllib.loads((_HERE / "texts.toml").read_text(encoding="utf-8"))
_RECORDED: str = _TEXTS["recorded"]
INSTRUCTIONS: str = _TEXTS["instructions"].format(recorded=_RECORDED)
#: Name -> prompt: the task of a user, in words for a model that has the tools.
PROMPTS: dict[str, dict[str, Any]] = {prompt["name"]: prompt for prompt in _TEXTS["prompt"]}
#: In the form of the protocol's lists.
RESOURCES: list[dict[str, str]] = _TEXTS["resource"]
TEMPLATES: list[dict[str, str]] = _TEXTS["template"]
_DEFINITIONS = "wavewright://definitions/"
_LONGEST = 1_000  #: Characters of an argument of a prompt.


def listed_prompts() -> list[dict[str, Any]]:
    """All prompts, as the protocol lists them."""
    prompts = []
    for name, prompt in PROMPTS.items():
        meanings = prompt["arguments"].items()
        arguments = [{"name": argument, "description": meaning, "required": True} for argument, meaning in meanings]
        prompts.append({"name": name, "description": prompt["sentence"], "arguments": arguments})
    return prompts


def filled_prompt(name: str, arguments: Any) -> dict[str, Any]:
    """A prompt with its arguments filled in.

    Raises `LookupError, ValueError` when there is no such prompt, or an argument is missing or not known.
    """
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise LookupError(f"there is no prompt {name[:80]!r}; there are {', '.join(PROMPTS)}")
    if not isinstance(arguments, dict) or arguments.keys() != prompt["arguments"].keys():
        raise ValueError(f"{name} takes {', '.join(prompt['arguments'])}")
    filled = {key: str(value)[:_LONGEST] for key, value in arguments.items()}
    content = {"type": "text", "text": f"{prompt['words'].format(**filled)} {_RECORDED}"}
    return {"description": prompt["sentence"], "messages": [{"role": "user", "content": content}]}


def resource(uri: str) -> dict[str, Any]:
    """The content of a resource. Raises `LookupError` when there is none."""
    from wavewright.mcp.declared import TOOLS

    topic = uri.removeprefix(_DEFINITIONS)
    topics = dict.fromkeys(name for tool in TOOLS for name in tool.topic_names)
    if uri.startswith(_DEFINITIONS) and topic in {*topics, "about"}:
        return {"uri": uri, "mimeType": TEMPLATES[0]["mimeType"], "text": definition(topic)}
    types = {entry["uri"]: entry["mimeType"] for entry in RESOURCES}
    if uri not in types:
        choices = f"{', '.join(types)}, {_DEFINITIONS}TOPIC ({', '.join(topics)})"
        raise LookupError(f"there is no resource {uri[:80]!r}; there are {choices}")
    return {"uri": uri, "mimeType": types[uri], "text": _text_of(uri.removeprefix("wavewright://"))}


def _text_of(name: str) -> str:
    from wavewright.mcp.declared import ANSWER_SCHEMA

    if name == "schema/answer":
        return json.dumps(ANSWER_SCHEMA, indent=1)
    text = (_HERE / f"{name}.md").read_text(encoding="utf-8")
    return text.replace("{recorded}", _RECORDED) if name == "guide" else text


def definition(topic: str) -> str:
    """The definitions of the numbers of a topic as Markdown, for each kind of documents that it is about."""
    from wavewright.model.document import DOCUMENTS
    from wavewright.questions.catalog import QUESTIONS

    lines = [f"# {topic}"]
    for kind, topics in QUESTIONS.items():
        if topic not in topics:
            continue
        lines += ["", f"## Of {DOCUMENTS[kind]}", "", topics[topic].sentence]
        analysis = topics[topic].analysis()
        for answer in (*analysis.answers, *analysis.parts):
            lines += _lines_of(answer)
    return "\n".join([*lines, ""])


def _lines_of(answer: type[Answer]) -> list[str]:
    """The definition and the columns of a class of answers as lines of Markdown."""
    lines = ["", answer.definition] if answer.definition else []
    for name, table in answer.tables.items():
        lines += ["", f"### {name}: {table.row}", "", "| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.unit} | {column.meaning} |" for column in table.columns]
    return lines
