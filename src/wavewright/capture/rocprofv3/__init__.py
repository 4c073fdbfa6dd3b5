"""rocprofv3, release by release: options, input files, its small grammars, its messages."""
