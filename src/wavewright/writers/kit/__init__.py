"""Pieces of several writers."""
