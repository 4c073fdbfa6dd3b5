"""rocprof (v1): databases and CSV files."""
