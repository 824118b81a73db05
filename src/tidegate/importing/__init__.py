"""Turns the configuration of another gateway into ours, and tells what it could not carry."""
