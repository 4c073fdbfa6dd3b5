"""Metrics as data: formulas over hardware counters, declared per panel and GPU target in the TOML files beside this."""
