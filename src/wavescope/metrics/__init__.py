"""Metrics as data: formulas over hardware counters, declared per panel and GPU target in the TOML files beside this."""

from wavescope.metrics.declared import COLUMNS, Metric, MetricTable, Panel

__all__ = ["COLUMNS", "Metric", "MetricTable", "Panel"]
