"""Waves: residency and states over time."""
