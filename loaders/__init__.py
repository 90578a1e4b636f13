"""From files and messages to typed records: rows, chains and model replies."""
