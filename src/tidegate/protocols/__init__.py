"""The dialects: how each wire protocol says what the core means."""
