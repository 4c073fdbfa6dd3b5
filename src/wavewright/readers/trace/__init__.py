"""Thread traces: raw captures, decoded directories, Parquet."""
