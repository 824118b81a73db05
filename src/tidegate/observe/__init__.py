"""Facts in, log lines and numbers out."""
