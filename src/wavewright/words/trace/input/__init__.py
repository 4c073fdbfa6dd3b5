"""Inputs of traces in words: captures, dispatches, coverage, trust."""
