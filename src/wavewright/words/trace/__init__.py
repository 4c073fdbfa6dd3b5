"""Answers about thread traces, in words."""
