"""Shared by all writers: staging of outputs, table files, JSON text, pictures, results."""
