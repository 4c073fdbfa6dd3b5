"""The declarations: small, complete, and true of topics, viewer and documents."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.mcp.talking import ENVIRONMENT, Talk
from wavewright.mcp.clients import snippet
from wavewright.mcp.declared import ANSWER_SCHEMA, TOOLS
from wavewright.mcp.server import version
from wavewright.mcp.suggestions import ALIASES
from wavewright.questions.catalog import QUESTIONS, every_question
from wavewright.writers.markdown.brief import token_count

REPOSITORY = Path(__file__).resolve().parents[2]
OURS = {"capture", "about", "limit", "cursor"}


def test_the_whole_list_fits_into_1500_tokens(root: Path) -> None:
    with Talk(root) as talk:
        listed = talk.ask("tools/list")["result"]
    tokens = token_count(json.dumps(listed, separators=(",", ":")))
    assert tokens <= 1_500, "shorten sentences and notes in src/wavewright/mcp/tools.toml"
    assert 10 <= len(listed["tools"]) <= 15
    for tool in listed["tools"]:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["annotations"] == {"readOnlyHint": True}
        assert set(tool["outputSchema"]["required"]) <= set(ANSWER_SCHEMA["required"])


def test_every_topic_can_be_asked_and_every_parameter_is_taken() -> None:
    asked: dict[str, set[str]] = {kind: {"about"} for kind in QUESTIONS}  # open_capture answers about
    for tool in TOOLS:
        names = {parameter.name for parameter in tool.parameters} - OURS
        for kind, topics in tool.topics.items():
            asked[kind] |= set(topics)
            taken = {name for topic in topics for name in QUESTIONS[kind][topic].parameters}
            names -= taken | {ALIASES.get(name, name) for name in taken}
        assert not tool.topics or not names, (tool.name, names)
    assert {kind: set(topics) for kind, topics in QUESTIONS.items()} == asked


def test_links_name_views_of_the_page() -> None:
    sources = "\n".join(path.read_text() for path in (REPOSITORY / "web" / "src" / "views").rglob("*.ts*"))
    there = set(re.findall(r'^\s+id: "([a-z_]+)"', sources, re.MULTILINE))
    assert {question.view for question in every_question() if question.view} <= there


def test_documents_are_fresh() -> None:
    tool = REPOSITORY / "tools" / "make_mcp_docs.py"
    done = subprocess.run(
        [sys.executable, tool, "--check"], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr


def test_listing_tools_loads_nothing_heavy() -> None:
    code = "import sys, wavewright.mcp.server, wavewright.mcp.texts; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"'([^']+)'", done.stdout))
    assert not loaded & {"polars", "numpy", "rich", "msgspec", "wavewright.analysis", "wavewright.page"}


def test_the_version_is_that_of_the_package() -> None:
    assert version() == importlib.metadata.version("wavewright")


@pytest.mark.parametrize("client", ["claude", "codex", "cursor", "gemini", "vscode"])
def test_snippets_start_the_server(client: str, tmp_path: Path) -> None:
    text = snippet(client, [tmp_path])
    settings = json.loads(text.settings)
    entry = next(iter(settings.values()))["wavewright"]
    assert entry["command"] == "wavewright"
    assert entry["args"] == ["mcp", "--root", str(tmp_path)]
    if client == "codex":
        import tomllib

        assert tomllib.loads(text.words)["mcp_servers"]["wavewright"]["args"] == entry["args"]
    else:
        assert json.loads(re.sub(r"^//.*$", "", text.words, flags=re.MULTILINE)) == settings


def test_config_prints_and_changes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wavewright", "mcp", "--config", "claude", "--root", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tmp_path, env={"HOME": str(tmp_path)}
    )
    assert "mcpServers" in done.stdout
    assert list(tmp_path.iterdir()) == []
