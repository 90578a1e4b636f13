"""Everything that starts from finished logs."""
