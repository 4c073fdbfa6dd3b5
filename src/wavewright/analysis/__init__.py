"""Model to answers: pure functions, one question per module."""
