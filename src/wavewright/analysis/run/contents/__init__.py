"""What a run holds: events, tables, views."""
