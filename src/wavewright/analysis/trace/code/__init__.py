"""Rows of code: control flow, source lines, functions."""
