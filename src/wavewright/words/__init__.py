"""Answers to text: what people read in the terminal."""
