"""Answers about captures of hardware counters."""
