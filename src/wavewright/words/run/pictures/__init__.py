"""Pictures of answers about runs."""
