"""What kernels do, by their names: rules of the TOML file beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from wavewright.facts.loader import packaged

OTHER = "other"  #: Kernels that no rule matches.


@dataclass(frozen=True)
class CategoryRule:
    """One rule: names that match are of this category, unless an earlier rule matches."""

    category: str
    library: str  #: Where such names come from.
    #: What the pattern is looked for in: `head` is the name without return type, arguments and parameters, `name` the
    #: name without return type and parameters.
    within: str
    pattern: str  #: A regular expression that Python and Rust read alike.
    examples: tuple[str, ...]  #: Names that this rule decides.


@dataclass(frozen=True)
class CategoryRules:
    """All categories in the order to show them in, and the rules in the order to ask them in."""

    categories: tuple[str, ...]
    rules: tuple[CategoryRule, ...]


@cache
def category_rules() -> CategoryRules:
    """The rules of `categories.toml`."""
    declared = packaged("kernel_categories/categories.toml")
    rules = []
    for entry in declared["rule"]:
        within, pattern = next((key, entry[key]) for key in ("head", "start", "name") if key in entry)
        pattern, within = (f"^(?:{pattern})", "head") if within == "start" else (pattern, within)
        rules.append(CategoryRule(entry["category"], entry["library"], within, pattern, tuple(entry["examples"])))
    return CategoryRules(tuple(declared["categories"]), tuple(rules))
