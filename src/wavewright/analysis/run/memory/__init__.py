"""Quantities over time: memory, clocks, counters."""
