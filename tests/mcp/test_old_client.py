"""The official client of version 1, where `MCP1_PYTHON` names a Python that has it (pip install 'mcp<2')."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.mcp.talking import ENVIRONMENT
from tests.mcp.test_client import calls
from wavewright.mcp.declared import ANSWER_SCHEMA, TOOLS


@pytest.mark.slow
def test_the_client_of_version_1_is_answered(root: Path, trace: str) -> None:
    python = os.environ.get("MCP1_PYTHON")
    if not python:
        pytest.skip("MCP1_PYTHON is not set")
    server = [sys.executable, "-m", "wavewright", "mcp", "--root", str(root)]
    script = Path(__file__).with_name("old_client.py")
    done = subprocess.run(
        [python, str(script), *server],
        input=json.dumps(calls(trace)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ENVIRONMENT},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["revision"] == "2025-11-25"
    assert told["tools"] == [tool.name for tool in TOOLS]
    assert len(told["prompts"]) == 3
    assert told["guide"].startswith("# ")
    for name, is_error, fields, text in told["answers"]:
        assert not is_error, (name, text)
        jsonschema.Draft202012Validator(ANSWER_SCHEMA).validate(fields)
