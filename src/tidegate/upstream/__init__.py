"""Adapters to the providers."""
