"""Answers about thread traces, for the terminal."""
