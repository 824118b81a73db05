"""Adapters to the database."""
