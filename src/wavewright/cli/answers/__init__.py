"""Answers of the verbs whose options change the analysis; what a verb prints follows from its declaration."""
