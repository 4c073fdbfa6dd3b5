"""Contents of a run: events, tables, views."""
