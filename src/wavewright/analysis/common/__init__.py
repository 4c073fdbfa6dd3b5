"""Shared by the analyses of traces, runs and counters."""
