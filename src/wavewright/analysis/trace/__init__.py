"""Answers about thread traces."""
