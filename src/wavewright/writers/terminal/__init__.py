"""Blocks for a terminal."""
