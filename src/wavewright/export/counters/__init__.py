"""Counter captures as files of other tools, and plans of captures."""
