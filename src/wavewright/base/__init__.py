"""No domain: text, CSV and SQL quoting, files that may be read, caches, temporary folders, signals."""
