"""Judge the rules of diagnoses by all captures with a known cause, and write docs/reference/rules.md.

Without options it judges (needs ../shared, takes minutes), keeps the counts in tests/golden/judgement/scores.toml and
writes the page. `--check` compares the page with the counts and with the tables of rules, in a second.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.facts.counters.limiters import LIMITER_RULES, Threshold
from wavewright.facts.metrics.rule_voices import SILENT_RULES
from wavewright.facts.run_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.golden.judgement.judge import Score

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "rules.md"
SCORES = ROOT / "tests" / "golden" / "judgement" / "scores.toml"
SHARED_DATA = ROOT.parent / "shared"
TITLES = {"trace": "Rules about thread traces", "run": "Rules about runs", "counters": "Rules about counters"}
INTRODUCTION = """
Findings are made by rules with thresholds. A rule states where its numbers come from, and is judged by captures whose
cause is known from elsewhere: planted in a made capture that has a twin without it, or found by hand in a real one
(`tests/golden/judgement`). It is judged where it speaks first about such a capture, and where it speaks about a twin.

Half of the captures, by a hash of their names, count as *unseen*. A rule that is right in fewer than 90 % of those that
it spoke about, three or more, has no voice, and what it says is a note (`facts/metrics/rule_voices.toml`). *Left out*
are the captures on which a rule would speak if only the others were known (right in at least 90 % of them), and how
many of these it gets right. All of them were at hand when the rules were written: captures that nobody had seen are
judged worse. `tools/judge_rules.py` judges all rules again and writes this page.
""".strip()


def page(rows: Iterable[dict[str, Any]]) -> str:
    """The page as Markdown, for the counts of all rules."""
    lines = ["# Rules", "", "<!-- made by tools/judge_rules.py -->", "", INTRODUCTION]
    table_rows = list(rows)
    for kind, title in TITLES.items():
        lines += ["", f"## {title}", "", "| rule | spoke | right | wrong | unseen: right | left out: right | voice |"]
        lines += ["|---|---:|---:|---:|---:|---:|---|"]
        lines += [_row(row) for row in table_rows if row["kind"] == kind]
        silent_names = sorted(set(_names(kind)) - {row["rule"] for row in table_rows if row["kind"] == kind})
        if silent_names:
            lines += [
                "",
                f"Not judged, because they speak first about no capture with a known cause: {', '.join(silent_names)}.",
            ]
    lines += [
        "",
        "## Thresholds of runs",
        "",
        "| rule | compared | from | with stress from | source |",
        "|---|---|---:|---:|---|",
    ]
    lines += [
        f"| {rule.id} {rule.name} | {rule.quantity} | {rule.say:g} | {rule.stress or ''} | {rule.source} |"
        for rule in RULES.values()
        if rule.say is not None
    ]
    lines += ["", "## Thresholds of counters", "", "| limiter | quantity | likely | strong | because | source |"]
    lines += ["|---|---|---:|---:|---|---|"]
    lines += [
        f"| {rule.name} | {each.quantity}{' at most' if each.below else ''} | {each.likely:g} | {each.strong:g} "
        f"| {each.reason} | {each.source} |"
        for rule in LIMITER_RULES.values()
        for each in _thresholds(rule)
    ]
    return "\n".join(lines) + "\n"


def _thresholds(rule: Any) -> list[Threshold]:
    return [*rule.decides, *rule.instead, *rule.only_if, *rule.one_of, *rule.signs]


def _names(kind: str) -> list[str]:
    """The rules of a table; findings about traces have none."""
    if kind == "run":
        return [rule.id for rule in RULES.values() if rule.say is not None and rule.kind not in ("note", "caveat")]
    return list(LIMITER_RULES) if kind == "counters" else []


def _row(row: dict[str, Any]) -> str:
    name = f"{row['rule']} {RULES[row['rule']].name}" if row["kind"] == "run" else row["rule"]
    voice = "note" if row["rule"] in SILENT_RULES[row["kind"]] else "yes"
    counts = f"{row['fired']} | {row['right']} | {row['fired'] - row['right']}"
    of_half, of_others = (f"{row[f'{part}_right']} of {row[f'{part}_fired']}" for part in ("unseen", "left_out"))
    return f"| {name} | {counts} | {of_half} | {of_others} | {voice} |"


def counts_text(results: Iterable[Score]) -> str:
    """The counts as a TOML file."""
    lines = [
        "# Written by tools/judge_rules.py: how often each rule spoke, and was right. docs/reference/rules.md shows it."
    ]
    for score in results:
        lines += ["", "[[score]]", f'kind = "{score.kind}"', f'rule = "{score.rule}"']
        lines += [f"{name} = {number}" for name, number in score._asdict().items() if name not in ("kind", "rule")]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Judge and write, or check; 1 when the page is out of date or there is nothing to judge by."""
    if "--check" not in sys.argv:
        if not SHARED_DATA.is_dir():
            print("../shared is not here: nothing to judge the rules by", file=sys.stderr)
            return 1
        sys.path.insert(0, str(ROOT))
        from tests.golden.judgement.judge import judgements, scores

        results = list(judgements(SHARED_DATA))
        for each in results:
            if not each.is_right:
                print(f"wrong: {each.rule} about {each.capture}")
        SCORES.write_text(counts_text(scores(results)), encoding="utf-8")
    text = page(tomllib.loads(SCORES.read_text(encoding="utf-8"))["score"])
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
