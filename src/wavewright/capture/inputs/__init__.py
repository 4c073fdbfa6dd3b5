"""Input files of rocprofv3: read as its script reads them, explained, and written."""
