"""Pictures of answers about counter captures."""
