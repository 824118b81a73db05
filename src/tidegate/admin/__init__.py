"""The JSON API for operators."""
