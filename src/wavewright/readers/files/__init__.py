"""Kinds of input, folders and archives, text and SQLite files."""
