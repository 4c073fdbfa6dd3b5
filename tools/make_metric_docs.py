"""Write docs/reference/metrics from the declared tables: a page per panel, and an index. `--check` compares."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.facts.metrics.catalog import CatalogEntry, Variant, catalog, counters_of, difference
from wavewright.facts.metrics.families import METRIC_TARGETS, Family, families, family_of
from wavewright.facts.metrics.names import QUANTITIES, names_of
from wavewright.words.counters.metrics import spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference" / "metrics"
MADE = "<!-- made by tools/make_metric_docs.py from src/wavewright/metrics -->"

OWN = [
    "## Metrics of your own",
    "",
    (
        "`wavewright counters PATH --more FILE` computes the metrics of a TOML file beside ours; `wavewright metrics` "
        "with the same option explains them. `name`, `unit` and `formula` are needed. `peak` is a formula in the same "
        "unit; `panel` and `table` are titles that group metrics; `targets` are the GPUs that have it (`gfx942`, or a "
        "group such as `gfx94x`), all where nothing is said; `level` names the level counter whose pass measures "
        "`accumulated`; `about` and `source` are words. Formulas may use counters, quantities, rates and the named "
        "parts of the target."
    ),
    "",
    "```toml",
    "[[metrics]]",
    'name = "Share of F16"',
    'unit = "%"',
    'formula = "100 * mfma_flops_f16 / mfma_flops"',
    'peak = "100"',
    'panel = "GEMM"',
    'targets = ["gfx94x", "gfx950"]',
    'about = "How much of the matrix work is in half precision."',
    "```",
    "",
    (
        "Mistakes are told with the file, the metric and the character. A file has at most 1,000,000 bytes and 2,000 "
        "metrics, a text at most 2,000 characters. Own panels have numbers from 100 and the words `own`, `own2`, ..."
    ),
    "",
]
"""How to add metrics."""


def page_name(entry: CatalogEntry) -> str:
    """The page of an entry's panel."""
    return f"{entry.panel_word}.md" if entry.family == "CDNA" else f"{entry.family.lower()}-{entry.panel_word}.md"


def anchor(entry: CatalogEntry) -> str:
    """Its section on that page, as an HTML id: names repeat between tables."""
    return re.sub(r"[^a-z0-9]+", "-", f"{entry.table_id} {entry.name}".lower()).strip("-")


def panel_page(entries: Sequence[CatalogEntry]) -> str:
    """All metrics of a panel, table by table."""
    first = entries[0]
    lines = [
        f"# {first.panel_title} ({first.family} panel {first.panel_number}, `{first.panel_word}`)",
        "",
        MADE,
        "",
        f"`wavewright counters PATH --panel {first.panel_word}` shows it; [how to read this page](README.md).",
        f"On {spans(_targets(entries))}.",
        "",
    ]
    for table in dict.fromkeys(entry.table_id for entry in entries):
        rows = [entry for entry in entries if entry.table_id == table]
        lines += [f"## {table} {rows[0].table_title}", ""]
        for entry in rows:
            lines += [*_section(entry), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(entry: CatalogEntry) -> Iterator[str]:
    yield f'### <a id="{anchor(entry)}"></a>{entry.name}'
    yield ""
    yield entry.about
    yield ""
    yield f"- unit: {entry.unit}"
    by_id: dict[str, list[str]] = {}
    for target, identity in entry.ids.items():
        by_id.setdefault(identity, []).append(target)
    yield "- id: " + "; ".join(f"{identity} on {spans(targets)}" for identity, targets in by_id.items())
    for formulas in _by_formula(entry):
        yield from _formula_lines(formulas)
    yield f"- source: {entry.source}"


def _by_formula(entry: CatalogEntry) -> list[list[Variant]]:
    """Forms of the same formula and peak together, whatever the reference has instead."""
    groups: dict[tuple[str | None, str | None], list[Variant]] = {}
    for variant in entry.variants:
        groups.setdefault((variant.metric.formula, variant.metric.peak), []).append(variant)
    return list(groups.values())


def _formula_lines(variants: Sequence[Variant]) -> Iterator[str]:
    metric = variants[0].metric
    where = spans([target for variant in variants for target in variant.targets])
    if metric.formula is None:
        yield f"- on {where}: listed, but there are no counters for it"
        return
    whole = f" = `{metric.formula}`" if metric.formula != metric.written else ""
    yield f"- formula on {where}: `{metric.written}`{whole}"
    if metric.level:
        yield f"  - `accumulated` comes from a pass of its own, with `{metric.level}`"
    if metric.peak is not None:
        yield f"  - peak: `{metric.peak}`"
    counters = ", ".join(f"`{name}`" for name in counters_of(metric))
    yield f"  - counters: {counters or 'none'}"
    for variant in variants:
        if variant.reference is not None:
            only = f" on {spans(variant.targets)}" if len(variants) > 1 else ""
            yield f"  - differs{only}: {difference(variant)}"


def _targets(entries: Sequence[CatalogEntry]) -> tuple[str, ...]:
    """Targets that list any of the entries, in their order."""
    targets = {target for entry in entries for target in entry.ids}
    return tuple(target for target in METRIC_TARGETS if target in targets)


def index_page(entries: Sequence[CatalogEntry]) -> str:
    """The start page: how to read the pages, the panels, the quantities, and metrics that correct the reference."""
    lines = [
        "# Metrics",
        "",
        MADE,
        "",
        (
            "Every metric that `wavewright counters` computes, panel by panel: its meaning, its formula per GPU "
            "target, the counters that it needs, its peak, and how it differs from ROCm Compute Profiler 3.3. "
            "`wavewright metrics NAME` says the same in a terminal."
        ),
        "",
        (
            "A formula is evaluated per dispatch. Counters are in upper case, in one spelling: no `_sum`, `TCC_EA0_` "
            "for `TCC_EA_`; `X[i]` is the L2 channel of the row. Quantities, rates and named parts are in lower case; "
            "the form behind `=` has the parts put in. `/N` in a unit stands for the normalization that was asked for. "
            "Where a denominator is 0 or a counter is missing the metric is empty, with the reason."
        ),
        "",
    ]
    for family in dict.fromkeys(entry.family for entry in entries):
        family_entries = [entry for entry in entries if entry.family == family]
        lines += [f"## Panels of {family}", "", "| panel | word | about | metrics | on |", "|---|---|---|---|---|"]
        for number in dict.fromkeys(entry.panel_number for entry in family_entries):
            panel_entries = [entry for entry in family_entries if entry.panel_number == number]
            targets = spans(_targets(panel_entries))
            link = f"[{panel_entries[0].panel_title}]({page_name(panel_entries[0])})"
            lines.append(f"| {number} | `{panel_entries[0].panel_word}` | {link} | {len(panel_entries)} | {targets} |")
        lines.append("")
    lines += OWN
    lines += ["## Quantities", "", "| name | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in QUANTITIES.items()]
    lines += [
        "",
        "## Rates",
        "",
        *_rates(),
        "",
        "## Named parts",
        "",
        *_parts(),
        "",
        "## What differs from the reference",
        "",
        *_differences(entries),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _rates() -> Iterator[str]:
    """Rates per cycle of every target that has some."""
    told = {target: {n: v for n, v in names_of(target).items() if n.startswith("rate_")} for target in METRIC_TARGETS}
    columns: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for target, rates in told.items():
        if rates:
            columns.setdefault(tuple(sorted(rates.items())), []).append(target)
    yield "Operations or bytes per cycle of one CU, one L2 channel (`rate_l2_bytes`) or one cache (`rate_sqc_bytes`)."
    yield ""
    yield "| rate | " + " | ".join(spans(targets) for targets in columns.values()) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in sorted({name for rates in told.values() for name in rates}):
        yield f"| `{name}` | " + " | ".join(dict(rates).get(name, "") for rates in columns) + " |"


def _parts() -> Iterator[str]:
    """Sub-expressions and formulas of other verbs, as declared."""
    yield "Sub-expressions, which your own formulas can use too, and below them what roofline and diagnose compute."
    yield ""
    yield "| family | name | on | formula |"
    yield "|---|---|---|---|"
    for family in families():
        targets = [target for target in METRIC_TARGETS if family_of(target) is family]
        for name in dict.fromkeys(name for names in reversed(family.named) for name in names):
            forms: dict[str, list[str]] = {}
            for target in targets:
                formula = _as_declared(family, name, target)
                if formula:
                    forms.setdefault(formula, []).append(target)
            for formula, told in forms.items():
                yield f"| {family.common['family']} | `{name}` | {spans(told)} | `{formula}` |"


def _as_declared(family: Family, name: str, target: str) -> str:
    """A named formula as the files say it; empty where the target has none."""
    if name in names_of(target):
        return names_of(target)[name]
    entry = family.formulas.get(name, {})
    sets = family.sets_of(target)
    if "targets" in entry and not set(sets) & set(entry["targets"]):
        return ""
    formula: str = entry.get("formula", "")
    for override in sets:
        formula = entry.get(override, {}).get("formula", formula)
    return formula


def _differences(entries: Sequence[CatalogEntry]) -> Iterator[str]:
    family = family_of(METRIC_TARGETS[0])
    defects: dict[str, str] = family.common["defects"] if family else {}
    yield "| defect | what | metrics |"
    yield "|---|---|---|"
    for defect, what in defects.items():
        fixes = [entry for entry in entries if defect in entry.defects]
        links = ", ".join(f"[{entry.table_id} {entry.name}]({page_name(entry)}#{anchor(entry)})" for entry in fixes)
        yield f"| {defect} | {what} | {links or 'the roofline'} |"


def pages() -> dict[Path, str]:
    """Path -> text of every page."""
    entries = catalog()
    texts = {FOLDER / "README.md": index_page(entries)}
    for name in dict.fromkeys(page_name(entry) for entry in entries):
        texts[FOLDER / name] = panel_page([entry for entry in entries if page_name(entry) == name])
    return texts


def main() -> int:
    """Write or check the pages; 1 when one is out of date or too many."""
    texts = pages()
    files = set(FOLDER.glob("*.md"))
    if "--check" in sys.argv:
        return int(files != set(texts) or any(path.read_text(encoding="utf-8") != text for path, text in texts.items()))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in files - set(texts):
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
