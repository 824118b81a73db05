"""A small client that shows a stream as it comes."""
