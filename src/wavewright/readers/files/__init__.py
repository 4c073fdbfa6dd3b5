"""What is at this path: kinds of input, folders and archives, text and SQLite files."""
