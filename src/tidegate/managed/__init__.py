"""Channels, models, accounts and keys that are managed in the database, beside those of the config file."""
