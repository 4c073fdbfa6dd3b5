"""Reports as PDF, through Typst."""
