"""What kernels do, by their names: rules of the TOML file beside it."""
