"""Examines what an endpoint sends against the rules of its protocol, with no code of our own codecs."""
