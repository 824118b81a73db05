"""The story: one request from first byte to last row."""
