"""Answers that only the page asks of a store of captures."""
