"""Declared questions, answers as bytes, notes and cached answers: the base of all questions of the page."""
