"""The GPUs of a machine: what the driver says of them, who uses them, locks, and the choice of one."""
