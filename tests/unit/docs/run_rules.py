"""The rules of the diagnosis of runs as rows of a table in Markdown."""

from __future__ import annotations

from wavewright.facts.run_rules import RULES


def rule_rows() -> list[str]:
    """The table, as `docs/explanation/run-diagnosis.md` has it."""
    rows = ["| rule | name | quantity | say | stress | source | false alarm if |", "|---|---|---|---:|---:|---|---|"]
    for rule in RULES.values():
        say, stress = (
            "" if value is None else f"{value:g} GB/s" if rule.unit == "GB/s" else f"{100 * value:g} %"
            for value in (rule.say, rule.stress)
        )
        cells = (rule.id, rule.name, rule.quantity, say, stress, rule.source, rule.false_if)
        rows.append(f"| {' | '.join(cells)} |")
    return rows
