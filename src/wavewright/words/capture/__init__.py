"""Captures in words: plans, discoveries, verdicts."""
