"""Counter captures as files of other tools."""
