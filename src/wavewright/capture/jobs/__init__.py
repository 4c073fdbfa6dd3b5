"""Jobs: the folder, the events, and the way from a plan to a result."""
