"""Collective operations, across ranks."""
