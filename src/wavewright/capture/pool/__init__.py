"""Many jobs on many GPUs: the jobs file, the schedule on one machine, on a Dask cluster or under Slurm, the state."""
