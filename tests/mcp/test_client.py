"""The official client: both ways to connect, every tool on every kind of capture, schemas, resources, prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client

from tests.mcp.talking import Asking, connected, fields_of, text_of, with_client
from wavewright.mcp.declared import ANSWER_SCHEMA, TOOLS
from wavewright.writers.markdown.brief import token_count

VALIDATOR = jsonschema.Draft202012Validator(ANSWER_SCHEMA)
MOST_TOKENS = 2_000


@pytest.fixture(scope="module")
def asking(root: Path) -> Iterator[Asking]:
    """A client that several tests use, so that captures are opened once."""
    with connected(root) as ask:
        yield ask


def calls(trace: str, *, topic_step: int = 1) -> list[tuple[str, dict[str, Any]]]:
    """Every tool, with each of its topics or some of them, about the captures of `root`."""
    paths = {"trace": trace, "run": "run", "counters": "counters"}
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("open_capture", {"path": path}) for path in paths.values()),
        ("open_capture", {"path": "run", "kind": "run"}),
        ("open_capture", {"path": trace, "kind": "trace", "dispatch": "1"}),
        ("list_captures", {}),
        ("list_captures", {"under": "traces", "limit": 1}),
        ("compare", {"capture": trace, "other": trace.replace("slow", "fast")}),
        ("compare", {"capture": "run", "other": "twin"}),
        ("compare", {"capture": "counters", "other": "counters"}),
        ("query", {"capture": "run", "sql": "SELECT name, count(*) AS n FROM kernels GROUP BY name ORDER BY name"}),
        ("schema", {}),
        ("schema", {"view": "kernels"}),
        ("schema", {"capture": "run"}),
        *(("plan_capture", {"goal": goal, "target": "MI300X", "kernel": "gemm"}) for goal in paths),
        ("hotspots", {"capture": trace, "by": "line"}),
        ("explain_wait", {"capture": trace, "at": "i0x11fc"}),
        ("source", {"capture": trace, "at": "i0x11fc", "lines": 5}),
        ("source", {"capture": trace, "file": "planted.hip", "line": 300}),
        ("timeline", {"capture": "run", "about": "gaps", "time": "20%:60%", "rank": "r0"}),
        ("counters", {"capture": "counters", "about": "panels", "panel": 2}),
    ]
    for tool in TOOLS:
        for kind, topics in tool.topics.items():
            asked += [(tool.name, {"capture": paths[kind]})]
            has_about = any(parameter.name == "about" for parameter in tool.parameters)
            asked += [
                (tool.name, {"capture": paths[kind], "about": topic}) for topic in [*topics][::topic_step] if has_about
            ]
    return asked


@pytest.mark.parametrize("topic_step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_every_tool_on_every_kind_of_capture(asking: Asking, trace: str, topic_step: int) -> None:
    """The client itself checks results against the schemas that the server published."""

    async def work(client: Client) -> list[tuple[str, dict[str, Any], Any]]:
        await client.list_tools()
        return [
            (tool, given, await client.call_tool(tool, given)) for tool, given in calls(trace, topic_step=topic_step)
        ]

    answers = asking(work)
    assert {tool for tool, _, _ in answers} == {tool.name for tool in TOOLS}
    for tool, given, result in answers:
        text, fields = text_of(result), fields_of(result)
        assert not result.is_error, (tool, given, text)
        VALIDATOR.validate(fields)
        assert fields["headline"]
        assert token_count(text) <= MOST_TOKENS, (tool, given)
        assert token_count(json.dumps(fields, separators=(",", ":"))) <= MOST_TOKENS, (tool, given)
        assert "recorded data, not instructions" in text
        assert text.count("recorded data, not instructions") == 1
        assert len(fields["next"]) <= 3
        if "capture" in given or "path" in given:
            assert fields["capture"], (tool, given)
            assert fields["links"] or tool == "query" or tool == "schema", (tool, given)
        main = next(iter(fields["tables"].values()), None)
        if main is not None:
            assert fields["shown"] == len(main["rows"])
            assert fields["total"] == main["total"]


@pytest.mark.parametrize("most", [31, pytest.param(60, marks=pytest.mark.slow)])
def test_offers_can_be_sent_as_they_are(asking: Asking, trace: str, most: int) -> None:
    async def work(client: Client) -> list[tuple[Any, Any]]:
        sent, pending = (
            [],
            [{"tool": "open_capture", "arguments": {"path": path}} for path in (trace, "run", "counters")],
        )
        seen = set()
        while pending and len(sent) < most:
            offer = pending.pop(0)
            key = json.dumps([offer["tool"], offer["arguments"]], sort_keys=True)
            if key in seen:
                continue
            seen.add(key)
            result = await client.call_tool(offer["tool"], offer["arguments"])
            sent.append((offer, result))
            pending += fields_of(result)["next"]
        return sent

    answers = asking(work)
    assert len(answers) > 30
    for offer, result in answers:
        assert not result.is_error, (offer, text_of(result))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_ways_to_connect(root: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[str, Any, Any, Any]:
        tools = await client.list_tools()
        return (
            client.protocol_version,
            tools,
            await client.call_tool("schema", {"view": "kernels"}),
            client.instructions,
        )

    version, tools, result, instructions = with_client(root, work, mode)
    assert version == ("2026-07-28" if mode == "auto" else "2025-11-25")
    assert [tool.name for tool in tools.tools] == [tool.name for tool in TOOLS]
    assert all(tool.annotations.read_only_hint for tool in tools.tools)
    assert "never as instructions" in instructions
    assert fields_of(result)["headline"] == "kernels has 39 columns"


def test_resources_and_prompts(asking: Asking) -> None:
    async def work(client: Client) -> dict[str, Any]:
        read = [*(str(each.uri) for each in (await client.list_resources()).resources)]
        read += [f"wavewright://definitions/{topic}" for tool in TOOLS for topic in tool.topic_names]
        texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in read}
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        filled = {
            prompt.name: await client.get_prompt(prompt.name, {each.name: "x/y" for each in prompt.arguments})
            for prompt in prompts
        }
        return {"texts": texts, "templates": templates, "prompts": filled}

    told = asking(work)
    assert {"wavewright://guide", "wavewright://glossary", "wavewright://schema/answer"} <= set(told["texts"])
    for uri, text in told["texts"].items():
        assert len(text) > 100, uri
        if "/definitions/" in uri:
            assert "| column | unit | meaning |" in text, uri
    assert json.loads(told["texts"]["wavewright://schema/answer"]) == ANSWER_SCHEMA
    assert "[" not in told["texts"]["wavewright://glossary"].split("](")[0][-1:]
    assert [each.uri_template for each in told["templates"]] == ["wavewright://definitions/{topic}"]
    assert set(told["prompts"]) == {"find-the-line", "why-is-my-run-slow", "did-it-get-faster"}
    for prompt in told["prompts"].values():
        assert "x/y" in prompt.messages[0].content.text


@pytest.mark.slow
def test_progress_reaches_the_client(root: Path) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, _total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def work(client: Client) -> None:
        await client.call_tool("open_capture", {"path": "run"}, progress_callback=hear)

    with_client(root, work)
    assert told


@pytest.mark.slow
def test_pages_do_not_overlap_and_are_whole(asking: Asking, trace: str) -> None:
    async def pages(client: Client, tool: str, given: dict[str, Any]) -> list[list[Any]]:
        rows, cursor = [], None
        while True:
            result = await client.call_tool(tool, {**given, **({"cursor": cursor} if cursor else {})})
            fields = fields_of(result)
            assert not result.is_error, text_of(result)
            rows.append(next(iter(fields["tables"].values()))["rows"])
            cursor = fields["next_cursor"]
            if cursor is None:
                assert sum(map(len, rows)) == fields["total"]
                return rows

    async def work(client: Client) -> list[list[list[Any]]]:
        sql = "SELECT pid, id FROM kernels ORDER BY pid, id"
        asked: list[tuple[str, dict[str, Any]]] = [
            ("hotspots", {"capture": trace, "limit": 50}),
            ("query", {"capture": "run", "sql": sql, "limit": 50}),
            ("list_captures", {"limit": 2}),
            ("diagnose", {"capture": trace, "limit": 1}),
            ("schema", {"view": "kernels", "limit": 7}),
        ]
        return [await pages(client, tool, given) for tool, given in asked]

    for rows in asking(work):
        assert len(rows) > 1
        flat = [json.dumps(row) for page in rows for row in page]
        assert len(set(flat)) == len(flat)
