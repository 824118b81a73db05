"""A provider that is played from a script, with faults on request."""
