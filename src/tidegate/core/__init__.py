"""The language: values that every other part speaks in."""
