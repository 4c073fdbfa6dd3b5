"""Blocks, reports and briefs as Markdown."""
