"""A trace as a document: its contents, subject, call and what questions need of it."""
