"""Write docs/reference/lane-rules.md, how LDS and L1 serve lanes, from wavewright.facts.lanes. `--check` compares."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from wavewright.analysis.trace.lanes.pattern import lane_ranges
from wavewright.facts import lanes
from wavewright.facts.lanes import CONFIDENCES, LdsRuleFact, lane_rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "lane-rules.md"
_RULES = Path(lanes.__file__).parent / "rules.toml"
_LANES = 64
CONFIDENCE_MEANINGS = {
    "counter-proven": "predicted counters of the hardware that it was not derived from",
    "published": "measured and published by others",
    "hypothesis": "taken over from relatives, chosen so that it fits, or contradicted by somebody",
}


def lane_rules_page() -> str:
    """The page as Markdown."""
    rules = lane_rules()
    lines = [
        "# Rules of lanes",
        "",
        "<!-- made by tools/make_lane_rule_docs.py from src/wavewright/facts/lanes/rules.toml -->",
        "",
        (
            "How LDS and the vector L1 cache serve the lanes of one memory instruction, as [`wavewright "
            "lanes`](lanes.md) counts it. What is not listed here is unknown, and the answer says so: other "
            "targets, atomics, transposing reads, loads that go straight to LDS, and unaligned accesses. "
            "`--rules FILE` puts rules of your own over these; `src/wavewright/facts/lanes/rules.toml` is a "
            "complete example."
        ),
        "",
        "| confidence | meaning |",
        "|---|---|",
        *(f"| {name} | {CONFIDENCE_MEANINGS[name]} |" for name in CONFIDENCES),
        "",
        "## LDS",
        "",
        (
            "The bank of a byte is its address / 4, modulo the banks. LDS serves the lanes of a *phase* "
            "together: one cycle if no bank is asked for two different dwords, else one for each different "
            "dword in the fullest bank. Lanes that want the same dword share it. The *ideal cycles* of an "
            "access are its phases with an active lane, its *extra cycles* what conflicts add. `read2` and "
            "`write2` are two accesses. Accesses of 1 and 2 bytes follow those of 4 bytes, as a hypothesis."
        ),
        "",
        "| target | operation | bytes | banks | phases | confidence | evidence | source |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_lds_line(rule) for rule in rules.lds.values()]
    lines += [
        "",
        "## Vector L1 cache",
        "",
        (
            "Lanes are looked up in groups of consecutive lanes; each different aligned segment of a group is "
            "an access. The *least* is what the same bytes would touch if they lay side by side."
        ),
        "",
        "| target | lanes of a group | segment | counter | confidence | evidence | accesses per cycle |",
        "|---|---|---|---|---|---|---|",
    ]
    for rule in rules.coalescing.values():
        rate = (
            "not known" if rule.accesses_per_cycle is None else f"{rule.accesses_per_cycle:g}, {rule.rate_confidence}"
        )
        more = f": {rule.rate_evidence}" if rule.rate_evidence else ""
        sizes = f"{rule.group_lanes} | {rule.segment_bytes} bytes | `{rule.counter}`"
        evidence = f"{rule.confidence} | {_cell(rule.evidence)} | {_cell(rate + more)}"
        lines.append(f"| {rule.target} | {sizes} | {evidence} |")
    lines += ["", "## Sources", "", "| name | what |", "|---|---|", *(f"| [{n}] | {what} |" for n, what in _sources())]
    return "\n".join(lines) + "\n"


def _sources() -> list[tuple[str, str]]:
    """Names of sources and their meaning, from the comment at the top of the rules."""
    comment = [line[2:] for line in _RULES.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
    sources: list[tuple[str, str]] = []
    for line in comment[comment.index("Sources:") + 1 :]:
        if parts := re.fullmatch(r" +\[(\w+)\] +(.*)", line):
            sources.append((parts[1], parts[2]))
        elif line.startswith("   ") and sources:
            sources[-1] = (sources[-1][0], f"{sources[-1][1]} {line.strip()}")
        else:
            break
    return [(name, _cell(what)) for name, what in sources]


def _lds_line(rule: LdsRuleFact) -> str:
    cells = (rule.target, rule.operation, str(rule.width_bytes), str(rule.banks), _phases(rule), rule.confidence)
    return f"| {' | '.join(cells)} | {_cell(rule.evidence)} | {_cell(rule.source)} |"


def _phases(rule: LdsRuleFact) -> str:
    return "; ".join(lane_ranges([lane for lane in range(_LANES) if phase >> lane & 1]) for phase in rule.phases)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != lane_rules_page())
    PAGE.write_text(lane_rules_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
