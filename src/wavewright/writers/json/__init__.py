"""Reports as JSON, and its schema."""
