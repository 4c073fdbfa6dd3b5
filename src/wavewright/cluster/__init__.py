"""Many files: one question asked of each, by processes of this machine or by a Dask cluster, and what came back."""
