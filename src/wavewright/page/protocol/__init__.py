"""Questions, answers as bytes, documents: what server and export share."""
