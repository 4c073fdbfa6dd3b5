"""Sections of a report: what it begins with, topics, comparisons, the user's own, and what it ends with."""
