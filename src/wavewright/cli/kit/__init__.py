"""Parts that verbs share."""
