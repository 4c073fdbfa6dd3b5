"""What rocprofv3 accepts, release by release: options, input files, its small grammars, its messages."""
