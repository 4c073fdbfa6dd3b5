"""Pictures of answers about thread traces."""
