"""Sentences of questions that every kind of document can be asked."""

WHAT_IS_IT = "What is this, from which GPU, how complete, what to do next?"
WHAT_TO_CHANGE = "What should be changed first, on which evidence, and how much can it gain at most?"
