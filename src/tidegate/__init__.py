"""Tidegate: a gateway for large-language-model APIs."""

__version__ = "0.1.0"
