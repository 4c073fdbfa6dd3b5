"""Bytes to model: one format per module; `sniff` decides which."""
