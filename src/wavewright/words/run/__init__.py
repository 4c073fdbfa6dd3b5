"""Answers about runs, for the terminal."""
