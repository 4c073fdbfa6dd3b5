"""Blocks and reports as HTML."""
