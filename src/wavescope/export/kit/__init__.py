"""Shared by all writers."""
