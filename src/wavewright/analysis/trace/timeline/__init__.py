"""Curves and spans over time."""
