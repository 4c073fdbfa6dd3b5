"""Thread traces as files of other tools."""
