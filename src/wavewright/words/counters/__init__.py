"""Answers about counter captures, for the terminal."""
