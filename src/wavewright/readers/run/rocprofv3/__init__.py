"""rocprofv3: CSV files and JSON."""
