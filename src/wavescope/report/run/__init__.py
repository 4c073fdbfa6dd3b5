"""Answers about profiles, for the terminal."""
