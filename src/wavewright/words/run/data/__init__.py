"""Data of runs in words: tables, queries, files, where a run is from."""
