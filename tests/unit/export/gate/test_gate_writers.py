"""What gates write for CI: JUnit, annotations and Markdown, from hostile names too."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tests.kit.gate_cases import HOSTILE
from wavewright.analysis.common.gate import GateAnswer, gate
from wavewright.analysis.common.gate.check import JudgedFinding
from wavewright.export.gate.github import MOST_ANNOTATIONS, annotation_lines
from wavewright.export.gate.junit import junit
from wavewright.model.baseline import Baseline, Budget, Limit, MeasuredCapture, Quantity
from wavewright.words.gate import gate_markdown


def _trace(scale: float, lines: int = 3, file: str = HOSTILE) -> Baseline:
    captured = []
    for number in range(5):
        quantities = [Quantity("cycles", "", "cycles", 64, 1000 * scale + number)]
        quantities += [
            Quantity("line", f"{file}:{line}", "cycles", 5, scale * (50 + line) + number, file=file, line=line)
            for line in range(1, lines + 1)
        ]
        captured.append(MeasuredCapture(HOSTILE, tuple(quantities)))
    return Baseline("trace", tuple(captured))


def _run(names: list[str], scale: float) -> Baseline:
    kernels = [Quantity("kernel", name, "ns", 100, 1e5 * scale, 100.0, 99, total=1e7 * scale) for name in names]
    whole = Quantity("gpu-time", "", "ns", 100, 1e7 * scale * len(names), 1e4, 10**6)
    return Baseline("run", (MeasuredCapture(HOSTILE, (whole, *kernels)),))


@pytest.fixture(scope="module")
def hostile() -> GateAnswer:
    """A trace that fails, with every status among its checks."""
    limits = (
        Limit(HOSTILE, "line", HOSTILE[:6], is_at_most=True, value=60.0, unit="cycles"),
        Limit("cycles <= 1 cycles", "cycles", "", is_at_most=True, value=1.0, unit="cycles"),
        Limit("nothing", "kernel", "nothing", is_at_most=True, value=1.0, unit="ns"),
    )
    findings = (JudgedFinding("wait", HOSTILE, 0.4, HOSTILE, 12),)
    return gate(_trace(1.2), _trace(1.0), budget=Budget("b.toml", limits, 0.05), findings=findings)


def _checked_xml(text: str) -> ET.Element:
    """The document, after the facts of the common schema of JUnit were checked."""
    assert not re.search(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text), "XML 1.0 characters only"
    root = ET.fromstring(text.encode())  # noqa: S314 - our own output
    assert root.tag == "testsuites"
    assert [suite.tag for suite in root] == ["testsuite"]
    for level in (root, *root):
        cases = list(level.iter("testcase"))
        assert int(level.attrib["tests"]) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(level.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
        assert level.attrib["name"]
        float(level.attrib["time"])
    for case in root.iter("testcase"):
        assert {"name", "classname", "time"} == set(case.attrib)
        assert len(case) <= 1
        for outcome in case:
            assert outcome.tag in ("failure", "error", "skipped")
            assert outcome.attrib["message"]
    assert [child.tag for child in root[0] if child.tag != "testcase"] == ["system-out"]
    return root


def test_junit_has_a_case_per_check_and_limit(hostile: GateAnswer) -> None:
    root = _checked_xml(junit(hostile))
    of_budget = [case for case in root.iter("testcase") if case.attrib["classname"] == "wavewright.budget"]
    assert len(of_budget) == 3 + 1 + 1 + 1, "three lines, cycles, nothing, the finding"
    assert int(root.attrib["failures"]) == 1 + 3 + 1 + 1
    assert int(root.attrib["errors"]) == 1


def test_junit_of_a_gate_that_cannot_tell_is_not_green() -> None:
    answer = gate(_run(["k"], 1.0), replace(_run(["k"], 1.0), step="train"))
    root = _checked_xml(junit(answer))
    assert int(root.attrib["errors"]) == 1
    assert int(_checked_xml(junit(answer, is_unsure_allowed=True)).attrib["errors"]) == 0


def test_annotations_are_few_and_escaped(hostile: GateAnswer) -> None:
    lines = annotation_lines(hostile, lambda file: f"src/{file}").splitlines()
    assert 0 < len(lines) <= MOST_ANNOTATIONS
    for line in lines:
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert match, line
        properties = dict(each.split("=", 1) for each in match[2].split(","))
        assert set(properties) <= {"file", "line", "title"}
        assert not re.search(r"[\x00-\x1f\u202e]", line)
        assert not re.search(r"%(?!25|0D|0A|3A|2C)", line), "every percent sign is an escape"
    assert any("file=src/" in line and "line=12" in line for line in lines)
    many = annotation_lines(gate(_run([f"k{n}" for n in range(40)], 1.3), _run([f"k{n}" for n in range(40)], 1.0)))
    assert many.count("\n") == MOST_ANNOTATIONS
    assert "32 more are in the summary" in many


def test_markdown_says_what_was_cut(hostile: GateAnswer) -> None:
    text = gate_markdown(hostile)
    assert text.startswith("## wavewright gate: fail\n")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert all(line.count(" | ") >= 7 for line in text.splitlines() if line.startswith("| fail"))
    names = [f"kernel_{number}_{'x' * 80}" for number in range(200)]
    cut = gate_markdown(gate(_run(names, 1.2), _run(names, 1.0), least_share=0), most_bytes=9_000)
    assert len(cut.encode()) <= 9_000
    assert "Cut here" in cut.splitlines()[-1]
