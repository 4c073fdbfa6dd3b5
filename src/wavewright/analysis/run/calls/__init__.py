"""Calls, markers and operators of threads, and what they launch."""
