"""Model to files of other tools: AMD's viewer (`ui_output`), Parquet and JSON tables."""
