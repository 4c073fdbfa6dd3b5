"""Sections of a report: the first look, topics, comparisons, those of the user, definitions."""
