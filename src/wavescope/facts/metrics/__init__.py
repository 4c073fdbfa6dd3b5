"""Metrics as data: formulas over hardware counters, declared per panel and GPU target in the TOML files beside this."""

from wavescope.facts.metrics.declared import COLUMNS, SPEED_OF_LIGHT, Metric, MetricTable, Panel
from wavescope.facts.metrics.families import METRIC_TARGETS
from wavescope.facts.metrics.names import NORMALIZATIONS, QUANTITIES, QUANTITY_COUNTERS, expanded, names_of
from wavescope.facts.metrics.own import FIRST_OWN_PANEL
from wavescope.facts.metrics.panels import RULES, formula_of, formulas_of, panels_of

__all__ = [
    "COLUMNS",
    "FIRST_OWN_PANEL",
    "METRIC_TARGETS",
    "NORMALIZATIONS",
    "QUANTITIES",
    "QUANTITY_COUNTERS",
    "RULES",
    "SPEED_OF_LIGHT",
    "Metric",
    "MetricTable",
    "Panel",
    "expanded",
    "formula_of",
    "formulas_of",
    "names_of",
    "panels_of",
]
