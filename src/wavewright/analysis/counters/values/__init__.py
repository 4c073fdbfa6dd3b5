"""Metrics of each kernel, or of each dispatch, and the dispatches that are not like the others."""
